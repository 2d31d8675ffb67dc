import { BPE } from './library.ts';
import { addedTokenSplitter, type Section } from './added-tokens.ts';
import { preTokenizer } from './pre-tokenize.ts';
import { type Component, patternOf, stepsOf, type TokenizerJson } from './tokenizer-json.ts';
import { nfc } from './unicode.ts';

/**
 * Text to ids, in the order of the Rust library: added tokens that are looked for as they are, the normalizer, added
 * tokens that are looked for in normalized text, pre-tokenizer, BPE, template.
 */
export function encoder(json: TokenizerJson): (text: string, addSpecialTokens: boolean) => number[] {
  const added = json.added_tokens ?? [];
  const splitRaw = addedTokenSplitter(added.filter((token) => token.normalized !== true));
  const splitNormalized = addedTokenSplitter(added.filter((token) => token.normalized === true));
  const normalize = normalizer(json.normalizer);
  const preTokenize = preTokenizer(json.pre_tokenizer);
  const model = new BPE({ ...json.model, type: 'BPE' });
  const { vocab } = json.model;
  const wrap = template(json.post_processor);

  const idsOf = (section: Section): number[] => {
    if ('id' in section) return [section.id];
    return splitNormalized(normalize(section.text)).flatMap((part) => {
      if ('id' in part) return [part.id];
      const words = preTokenize(part.text, section.atStart && part.atStart);
      return model.encode(words).map((token) => vocab[token] as number);
    });
  };

  return (text, addSpecialTokens) => {
    // What Rust receives of half a surrogate pair is U+FFFD.
    const ids = splitRaw(text.toWellFormed()).flatMap(idsOf);
    return addSpecialTokens ? wrap(ids) : ids;
  };
}

function normalizer(part: Component | null | undefined): (text: string) => string {
  const steps = stepsOf(part).map((step): ((text: string) => string) => {
    if (step.type === 'NFC') return nfc;
    if (step.type === 'Prepend') return (text) => (text === '' ? '' : String(step['prepend']) + text);
    const { String: from = '' } = patternOf(step);
    return (text) => text.replaceAll(from, () => String(step['content']));
  });
  return (text) => steps.reduce((current, step) => step(current), text);
}

interface TemplatePiece {
  readonly SpecialToken?: { readonly id: string };
}

/** TemplateProcessing for one sequence: the ids before and after it. */
function template(part: Component | null | undefined): (ids: number[]) => number[] {
  return stepsOf(part).reduce<(ids: number[]) => number[]>(
    (before, step) => {
      if (step.type !== 'TemplateProcessing') return before;
      const tokens = step['special_tokens'] as Readonly<Record<string, { readonly ids: readonly number[] }>>;
      const pieces = step['single'] as readonly TemplatePiece[];
      return (ids) =>
        pieces.flatMap(({ SpecialToken }) => (SpecialToken === undefined ? before(ids) : (tokens[SpecialToken.id]?.ids ?? [])));
    },
    (ids) => ids,
  );
}
