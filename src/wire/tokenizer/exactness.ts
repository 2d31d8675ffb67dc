import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { byteOfToken, byteToken, SYMBOL_OF_BYTE } from './byte-symbols.ts';
import { type Component, patternOf, stepsOf, type TokenizerJson } from './tokenizer-json.ts';

/**
 * Refuses, by name, every tokenizer whose ids or text are not known to be exact here.
 *
 * What is let through is listed, not what is kept out: each component and option below was compared with the Rust library
 * on random text and random ids (docs/decisions/003-tokenizer.md; `rust-oracle.test.ts`), and nothing else was.
 * Errors: `tokenizer-inexact`.
 */
export function refuseInexact(dir: string, json: TokenizerJson): void {
  const path = join(dir, 'tokenizer.json');
  const normalizers = stepsOf(json.normalizer);
  const problems = [
    ...modelProblems(json),
    ...['truncation', 'padding'].filter((key) => Boolean(json[key as keyof TokenizerJson])),
    ...addedTokenProblems(json, normalizers),
    ...named('normalizer', normalizers, normalizerProblem),
    ...named('pre-tokenizer', stepsOf(json.pre_tokenizer), preTokenizerProblem),
    ...metaspaceProblems(json, normalizers),
    ...named('post-processor', stepsOf(json.post_processor), postProcessorProblem),
    ...named('decoder', stepsOf(json.decoder), decoderProblem),
    ...(stepsOf(json.decoder).length === 0 ? ['no decoder'] : []),
  ];
  if (problems.length > 0) {
    throw new LockstepError('tokenizer-inexact', `${path} uses what is not known to be computed exactly here: ${problems.join('; ')}`, {
      hint: 'BPE tokenizers of the kinds of Llama 2 and 3, Mistral, Qwen and Gemma are supported; answers judged with this one could be wrong.',
    });
  }
}

type Problem = string | undefined;

function named(role: string, parts: readonly Component[], problemOf: (part: Component) => Problem): string[] {
  return parts.flatMap((part) => {
    const problem = problemOf(part);
    return problem === undefined ? [] : [`${role} ${String(part.type)}${problem === '' ? '' : ` ${problem}`}`];
  });
}

const NOT_COMPARED = '';

function modelProblems({ model, pre_tokenizer }: TokenizerJson): string[] {
  // Files from before 2021 leave the type out.
  if (model.type !== 'BPE' && !(model.type === undefined && 'merges' in model)) return [`model ${String(model.type)}`];
  const problems: string[] = [];
  for (const key of ['dropout', 'continuing_subword_prefix', 'continuing_subword_suffix', 'end_of_word_suffix']) {
    if (model[key]) problems.push(`model BPE with ${key}`);
  }
  const bytes = model.byte_fallback === true;
  const symbols = stepsOf(pre_tokenizer).some((part) => part.type === 'ByteLevel');
  if (!bytes && !symbols) problems.push('model BPE without byte_fallback or pre-tokenizer ByteLevel: characters without a token');
  const missing = Array.from({ length: 256 }, (_, byte) => (symbols ? (SYMBOL_OF_BYTE[byte] as string) : byteToken(byte)));
  if (missing.some((token) => !(token in model.vocab))) problems.push('a vocabulary that lacks a token for some byte');
  const halves = (merge: string | readonly [string, string]) => (typeof merge === 'string' ? merge.split(' ') : merge);
  if (bytes && model.merges.some((merge) => halves(merge).some((half) => byteOfToken(half) !== undefined))) {
    problems.push('merges of byte tokens');
  }
  return problems;
}

function addedTokenProblems({ model, added_tokens = [] }: TokenizerJson, normalizers: readonly Component[]): string[] {
  const problems: string[] = [];
  // The Rust library numbers the tokens anew when it loads them: after the vocabulary, without gaps.
  let next = Object.keys(model.vocab).length;
  for (const token of added_tokens) {
    const name = `added token ${JSON.stringify(token.content)}`;
    if (token.single_word === true) problems.push(`${name} with single_word`);
    const id = Object.hasOwn(model.vocab, token.content) ? model.vocab[token.content] : next++;
    if (token.id !== id) problems.push(`${name} with id ${token.id}, which is loaded as ${id}`);
    if (token.normalized === true && normalizers.some((part) => part.type !== 'NFC')) {
      problems.push(`${name} that is normalized (releases differ in what they look for and show)`);
    }
  }
  return problems;
}

function normalizerProblem(part: Component): Problem {
  if (part.type === 'NFC') return undefined;
  if (part.type === 'Prepend') return undefined;
  if (part.type === 'Replace') return literalProblem(part);
  return NOT_COMPARED;
}

function preTokenizerProblem(part: Component): Problem {
  if (part.type === 'ByteLevel' || part.type === 'Digits' || part.type === 'Metaspace') return undefined;
  if (part.type === 'Split') return patternOf(part).String === '' ? 'with an empty pattern' : undefined;
  return NOT_COMPARED;
}

/** `first` asks where in the original text a word begins, which is followed for a Metaspace on its own only. */
function metaspaceProblems({ pre_tokenizer }: TokenizerJson, normalizers: readonly Component[]): string[] {
  const parts = stepsOf(pre_tokenizer);
  if (!parts.some((part) => part.type === 'Metaspace')) return [];
  if (parts.length > 1) return ['pre-tokenizer Metaspace in a sequence'];
  return normalizers.some((part) => part.type === 'Prepend') ? ['pre-tokenizer Metaspace after normalizer Prepend'] : [];
}

function postProcessorProblem(part: Component): Problem {
  if (part.type === 'ByteLevel') return undefined;
  if (part.type !== 'TemplateProcessing') return NOT_COMPARED;
  const sequences = (part['single'] as readonly object[]).filter((piece) => 'Sequence' in piece);
  return sequences.length === 1 ? undefined : `whose text stands ${sequences.length} times in it`;
}

function decoderProblem(part: Component): Problem {
  if (part.type === 'Replace') return literalProblem(part);
  if (part.type === 'Strip') return Number(part['stop']) > 0 ? 'at the end' : undefined;
  return ['ByteLevel', 'ByteFallback', 'Fuse', 'Metaspace'].includes(String(part.type)) ? undefined : NOT_COMPARED;
}

function literalProblem(part: Component): Problem {
  const { String: literal } = patternOf(part);
  return literal === undefined || literal === '' ? 'with an expression' : undefined;
}
