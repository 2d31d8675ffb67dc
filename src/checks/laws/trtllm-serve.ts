/**
 * How trtllm-serve turns the engine's answer into what it serves: which is right, and what its releases were seen to do
 * (docs/observed.md#trtllm-serve). Written after the observation, apart from the embedded server.
 */
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Answer } from './types.ts';

/** Whether this route is one of trtllm-serve under this profile. */
export function servesTrtllm(route: RouteId, { openai }: ReleaseProfile): boolean {
  return openai.trtllmServe !== undefined && route.startsWith('openai');
}

/** The stop phrase of the list that is in the text, and what the text is without it and what follows. */
function cutAt(text: string, { limits }: Request): string | undefined {
  const phrase = limits.stopWords?.find((word) => text.includes(word));
  return phrase === undefined ? undefined : text.slice(0, text.indexOf(phrase));
}

/** The ids that are left once the phrase that ended them is taken back; at max_tokens the limit ended them. */
function withoutPhrase({ ids, finish }: Answer, { limits }: Request, tokenizer: Tokenizer): readonly number[] {
  if (finish !== 'stop-words' || ids.length >= limits.maxTokens) return ids;
  const phrases = (limits.stopWords ?? []).map((word) => tokenizer.encode(word, { addSpecialTokens: false }));
  const met = phrases.find((phrase) => phrase.length > 0 && phrase.every((id, k) => ids[ids.length - phrase.length + k] === id));
  return met === undefined ? ids : ids.slice(0, -met.length);
}

/**
 * The accepted answer as trtllm-serve is to serve it: without the stop phrase, and with the tokens that it took until
 * the phrase was there. What the engine gave stands in `engine`.
 */
export function servedAnswer(answer: Answer, request: Request, tokenizer: Tokenizer): Answer {
  if ((request.limits.stopWords ?? []).length === 0) return answer;
  const left = withoutPhrase(answer, request, tokenizer);
  let text = tokenizer.decode(left, { skipSpecialTokens: true });
  let n = left.length;
  let finish = answer.finish;
  const cut = cutAt(text, request);
  if (cut !== undefined) {
    // Texts of what was there so far, not joined pieces: tidied spaces may make a phrase that no pieces have.
    n = 1 + left.findIndex((_, k) => cutAt(tokenizer.decode(left.slice(0, k + 1)), request) !== undefined);
    text = cut;
    finish = 'stop-words';
  } else if (finish === 'stop-words' && left.length >= request.limits.maxTokens) finish = 'length';
  return {
    ...answer,
    ids: left.slice(0, n),
    text,
    finish,
    margins: answer.margins.slice(0, n),
    runnerUps: answer.runnerUps.slice(0, n),
    logProbs: answer.logProbs.slice(0, n),
    engine: answer,
  };
}

/**
 * The text that a stream of this release shows of the accepted answer, made as Hugging Face's DecodeStream makes it: bytes of a character that the end cut off never
 * come, and what was shown of a stop phrase before it was known for one stays.
 */
export function streamedText(truth: Answer, request: Request, tokenizer: Tokenizer, { models }: ReleaseProfile): string {
  const { streamHoldsBackStopStrings, streamShowsCutCharacter } = models.torch;
  const { ids, finish } = truth.engine ?? truth;
  if (streamHoldsBackStopStrings.value && streamShowsCutCharacter.value) return truth.text;
  const left = withoutPhrase(truth.engine ?? truth, request, tokenizer).length;
  const decoder = tokenizer.stream({ eager: !streamShowsCutCharacter.value });
  let shown = '';
  for (const [k, id] of ids.entries()) {
    const last = k === ids.length - 1;
    // The last response brings what the phrase left of it.
    const text = shown + (last && left < ids.length ? decoder.push(ids.slice(k, Math.max(k, left))) : decoder.push([id]));
    const cut = cutAt(text, request);
    if (cut !== undefined) return cut.length > shown.length ? cut : shown;
    shown = text;
    if (last && finish !== 'eos' && streamShowsCutCharacter.value) shown += decoder.flush();
  }
  return shown;
}

/** completion_tokens of an answer that is not streamed: the engine goes on to its end, wherever the text was cut. */
export function countedWhole(truth: Answer, request: Request, tokenizer: Tokenizer, { models }: ReleaseProfile): number {
  const engine = truth.engine ?? truth;
  return withoutPhrase(engine, request, tokenizer).length + (engine.finish === 'eos' && models.torch.usageCountsEos.value ? 1 : 0);
}
