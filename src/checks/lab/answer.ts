import type { Answer } from '#checks/laws/types.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/**
 * The accepted answer that a complete raw transcript shows.
 *
 * How it finished follows from the ids: fewer than max_tokens means EOS unless the last ids are a stop phrase
 * (TensorRT-LLM returns no reason; docs/observed.md#endings).
 */
export function answerOf(t: Transcript, tokenizer: Tokenizer): Answer {
  const { limits } = t.case.request;
  const ids = Array.from(t.ids);
  const stopped = (limits.stopWords ?? []).some((word) => endsWith(ids, tokenizer.encode(word, { addSpecialTokens: false })));
  return {
    promptIds: Array.from(t.promptIds ?? []),
    ids,
    text: tokenizer.decode(ids),
    finish: stopped ? 'stop-words' : ids.length >= limits.maxTokens ? 'length' : 'eos',
    margins: Array.from(t.margins),
    runnerUps: Array.from(t.runnerUps),
    logProbs: Array.from(t.logProbs),
  };
}

function endsWith(ids: readonly number[], tail: readonly number[]): boolean {
  return tail.length > 0 && tail.length <= ids.length && tail.every((id, i) => ids[ids.length - tail.length + i] === id);
}
