import type { Answer } from '#checks/laws/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** What is right for the same request with a smaller max_tokens: the beginning of the accepted answer. */
export function acceptedPart(answer: Answer, maxTokens: number, tokenizer: Tokenizer): Answer {
  if (maxTokens > answer.ids.length || (maxTokens === answer.ids.length && answer.finish !== 'eos')) return answer;
  const ids = answer.ids.slice(0, maxTokens);
  return {
    promptIds: answer.promptIds,
    ids,
    text: tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish: 'length',
    margins: answer.margins.slice(0, maxTokens),
    runnerUps: answer.runnerUps.slice(0, maxTokens),
    logProbs: answer.logProbs.slice(0, maxTokens),
  };
}
