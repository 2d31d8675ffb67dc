import type { Golden } from '#checks/goldens/index.ts';
import { type Answer, rightPromptIds } from '#checks/laws/index.ts';
import type { Limits, Request } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** What a target without raw should answer, as far as the goldens tell. */
export type Accepted = (request: Request) => Answer | undefined;

/**
 * Greedy answers follow from a golden of the same prompt ids: cut where the request's own limit or stop phrase ends it.
 * Undefined where the golden ends before that, or where a minimum makes the engine go on past it.
 */
export function acceptedAnswers(goldens: Iterable<Golden>, tokenizer: Tokenizer): Accepted {
  const byPrompt = new Map<string, Answer>();
  for (const { request, answer } of goldens) {
    const { minTokens = 0, stopAtEos = true } = request.limits;
    // Where EOS was held back the answer is another one from there on.
    if (request.sampling.kind !== 'greedy' || minTokens > 0 || !stopAtEos) continue;
    const key = answer.promptIds.join();
    const known = byPrompt.get(key);
    if (known === undefined || tells(answer) > tells(known)) byPrompt.set(key, answer);
  }
  return (request) => {
    if (request.sampling.kind !== 'greedy') return undefined;
    const golden = byPrompt.get(rightPromptIds(tokenizer, request).join());
    return golden === undefined ? undefined : limited(golden, request.limits, tokenizer);
  };
}

/** Of how many steps it is known what the engine does: an EOS is one, a limit tells nothing of the step after it. */
function tells({ ids, finish }: Answer): number {
  return ids.length + (finish === 'eos' ? 1 : 0);
}

function limited(golden: Answer, limits: Limits, tokenizer: Tokenizer): Answer | undefined {
  const stopped = endOfStopWord(golden, limits.stopWords ?? [], tokenizer);
  const { length } = golden.ids;
  const end = Math.min(stopped ?? Number.POSITIVE_INFINITY, limits.maxTokens, length);
  const whole = end === length && stopped !== length && limits.maxTokens > length;
  // The engine goes on: past the limit of the golden, past an EOS that is no end here, or past an end that comes too soon.
  if (whole && (golden.finish !== 'eos' || limits.stopAtEos === false)) return undefined;
  if ((limits.minTokens ?? 0) > end) return undefined;
  if (whole) return golden;
  const ids = golden.ids.slice(0, end);
  return {
    ...golden,
    ids,
    text: tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish: stopped === end ? 'stop-words' : 'length',
    margins: golden.margins.slice(0, end),
    runnerUps: golden.runnerUps.slice(0, end),
    logProbs: golden.logProbs.slice(0, end),
  };
}

/** Ids up to and with the first stop phrase, which may begin in the prompt but not end there. */
function endOfStopWord({ promptIds, ids }: Answer, words: readonly string[], tokenizer: Tokenizer): number | undefined {
  const phrases = words.map((word) => tokenizer.encode(word, { addSpecialTokens: false })).filter((phrase) => phrase.length > 0);
  const all = [...promptIds, ...ids];
  for (let end = 1; end <= ids.length; end++) {
    const at = promptIds.length + end;
    if (phrases.some((phrase) => phrase.every((id, k) => all[at - phrase.length + k] === id))) return end;
  }
  return undefined;
}
