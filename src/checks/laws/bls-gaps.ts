/** What `tensorrt_llm_bls` was seen to do against a law (docs/observed.md#bls), each deviation exact. */
import { textOfEvent, type Transcript } from '#core/transcript/index.ts';
import { ranOn } from './cancel-gaps.ts';
import { endsAlike, ENDS_SOONER } from './ends-alike.ts';
import { answered, BLS_ROUTES, dataEvents, firstTextDifference } from './observed.ts';
import { EVERY_MODELS } from './release-lists.ts';
import { textsOnlyGrow } from './texts-only-grow.ts';
import type { Gap, LawContext } from './types.ts';

const OBSERVED = 'docs/observed.md#bls';

/** The text of all tokens so far, one for each event of a stream that brings one token each; EOS repeats the last. */
function textsSoFar({ truth, tokenizer }: LawContext): readonly string[] | undefined {
  if (truth === undefined) return undefined;
  const texts = truth.ids.map((_, k) => tokenizer.decode(truth.ids.slice(0, k + 1), { skipSpecialTokens: true }));
  return truth.finish === 'eos' ? [...texts, texts.at(-1) ?? ''] : texts;
}

/** What every true text so far takes back of the one before it: a character that was cut, or the byte tokens around it. */
function repairs(context: LawContext): readonly { readonly kept: number; readonly dropped: string }[] {
  const texts = textsSoFar(context) ?? [];
  return texts.flatMap((text, k) => {
    const before = texts[k - 1] ?? '';
    if (text.startsWith(before)) return [];
    const kept = firstTextDifference(before, text);
    return [{ kept, dropped: before.slice(kept) }];
  });
}

/** How many of a stream's texts a BLS that looks for the stop words in them gives; undefined: all. */
function stopsAfter(texts: readonly string[], words: readonly string[]): number | undefined {
  let begun = '';
  for (const [k, text] of texts.entries()) {
    for (const word of words) {
      const grown = begun + text;
      begun = word.startsWith(grown) ? grown : '';
      if (begun === word) return k + 1;
    }
  }
  return undefined;
}

function cutBehindWord(text: string, words: readonly string[]): string {
  const word = words.find((one) => text.includes(one));
  return word === undefined ? text : text.slice(0, text.indexOf(word) + word.length);
}

const wordsOf = (t: Transcript) => (t.case.request.limits.stopWords ?? []).filter((word) => word !== '');

/** How many events such a BLS streams of what the ensemble does; undefined: all of them. */
function streamStop(t: Transcript, context: LawContext): number | undefined {
  const { reference } = context;
  if (reference === undefined) return undefined;
  const chunks = dataEvents(reference).map((event) => textOfEvent(reference, event));
  const texts = t.case.route === 'bls' ? chunks : textsSoFar(context);
  const after = texts?.length === chunks.length ? stopsAfter(texts, wordsOf(t)) : undefined;
  return after === undefined || after === chunks.length ? undefined : after;
}

export const BLS_GAPS: readonly Gap[] = [
  {
    id: 'accumulate-repairs-characters',
    law: textsOnlyGrow.id,
    routes: ['bls-accumulate'],
    mode: 'stream',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation:
      'Where the bytes of a character are not all there, the U+FFFD of them, and of the byte tokens before them, are replaced by what follows; 0.7 and 0.14 did so too.',
    thread: 'triton-inference-server/tensorrtllm_backend#493',
    listed: (profile) => !profile.models.streamedTextHoldsBackPartialCharacters.value,
    shows: (t, context) => answered(t) && repairs(context).length > 0,
    explains: (t, _violation, context) => {
      const known = repairs(context);
      return (
        t.revisions.length === known.length && t.revisions.every((r, i) => r.kept === known[i]?.kept && r.dropped === known[i].dropped)
      );
    },
  },
  {
    id: 'bls-stops-stream-by-text',
    law: endsAlike.id,
    routes: BLS_ROUTES,
    mode: 'stream',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation: 'A stop word that whole chunks spell, one after the other and before any other word, ends the stream, whatever its ids.',
    thread: OBSERVED,
    listed: (profile) => profile.models.bls.textStopWords.value,
    shows: (t, context) => streamStop(t, context) !== undefined,
    explains: (t, { code }, context) => code === ENDS_SOONER && dataEvents(t).length === streamStop(t, context),
  },
  {
    id: 'bls-cuts-whole-by-text',
    law: endsAlike.id,
    routes: BLS_ROUTES,
    mode: 'unary',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation: 'An answer that is not streamed is cut behind the first stop word in its text, whatever its ids.',
    thread: OBSERVED,
    listed: (profile) => profile.models.bls.textStopWords.value,
    shows: (t, { reference }) => reference !== undefined && cutBehindWord(reference.text, wordsOf(t)) !== reference.text,
    explains: (t, { code }, { reference }) =>
      code === ENDS_SOONER && reference !== undefined && t.text === cutBehindWord(reference.text, wordsOf(t)),
  },
  ranOn({
    id: 'bls-cancel-runs-on',
    routes: BLS_ROUTES,
    mode: 'both',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation:
      'The BLS never asks whether its client has gone; the engine, and the instance, go on to the natural end; 0.7 and 0.14 did so too.',
    thread: 'triton-inference-server/python_backend#398',
    listed: (profile) => !profile.models.bls.passesCancel.value,
  }),
];
