import { idsOfEvent, type Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { answered, dataEvents, isStream } from './observed.ts';
import type { Answer } from './types.ts';

/**
 * The answer that a raw transcript shows, or undefined when it shows none (error, cancel, another route).
 *
 * Why it ended is not served on this route (NVIDIA/TensorRT-LLM calls that expected); it follows from the framing and
 * the counts: an empty last response or a sampled step more than ids is EOS, a stop phrase at the end is a stop phrase,
 * max_tokens ids are the limit, and fewer ids in one whole response are EOS again.
 */
export function answerOf(t: Transcript, tokenizer: Tokenizer): Answer | undefined {
  if (t.case.route !== 'raw' || !answered(t)) return undefined;
  const ids = Array.from(t.ids);
  return {
    promptIds: Array.from(t.promptIds ?? []),
    ids,
    text: tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish: finishOf(t, tokenizer),
    margins: Array.from(t.margins),
    // Logits come as float32: where two are level there, the one that was not chosen is the other one, whoever is listed first.
    runnerUps: Array.from(t.runnerUps, (second, k) => (k < ids.length && second === ids[k] ? (t.winners[k] as number) : second)),
    logProbs: Array.from(t.logProbs),
  };
}

function finishOf(t: Transcript, tokenizer: Tokenizer): Answer['finish'] {
  const last = dataEvents(t).at(-1);
  if (isStream(t) && last !== undefined && idsOfEvent(t, last).length === 0) return 'eos';
  if (t.margins.length === t.ids.length + 1) return 'eos';
  const { maxTokens, stopWords = [], stopAtEos } = t.case.request.limits;
  const all = [...(t.promptIds ?? []), ...t.ids];
  for (const word of stopWords) {
    const phrase = tokenizer.encode(word, { addSpecialTokens: false });
    if (phrase.length > 0 && t.ids.length > 0 && phrase.every((id, k) => all[all.length - phrase.length + k] === id)) return 'stop-words';
  }
  if (t.ids.length >= maxTokens || isStream(t) || stopAtEos === false) return 'length';
  return 'eos';
}
