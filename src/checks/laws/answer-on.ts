import type { Case } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { TORCH_ROUTES } from './observed.ts';
import type { Answer } from './types.ts';

/**
 * The accepted answer in the form in which a route gives it. Only stop strings make a difference: the TensorRT path
 * compares ids and shows the phrase, the PyTorch back end looks into the text too and leaves the phrase out
 * (docs/observed.md#torch-path). Applied to its own result it changes nothing.
 */
export function answerOn({ request, route }: Case, answer: Answer, tokenizer: Tokenizer): Answer {
  const { stopWords = [] } = request.limits;
  if (!TORCH_ROUTES.includes(route) || stopWords.length === 0) return answer;
  const decoder = tokenizer.stream({ eager: true });
  let text = '';
  for (const [k, id] of answer.ids.entries()) {
    text += decoder.push([id]);
    // A character that the end cuts off is told by the last token.
    if (k === answer.ids.length - 1) text = answer.text.startsWith(text) ? answer.text : text;
    // The first of the list that occurs, not the one that occurs first.
    const met = stopWords.find((word) => text.includes(word));
    if (met === undefined) continue;
    const ids = answer.ids.slice(0, k + 1);
    const phrase = tokenizer.encode(met, { addSpecialTokens: false });
    const byIds = answer.finish === 'stop-words' && phrase.length > 0 && phrase.every((id, i) => ids.at(i - phrase.length) === id);
    // The ids of the phrase are taken away before the text is made, and a space may be one of them.
    const left = byIds ? tokenizer.decode(ids.slice(0, -phrase.length)) : text.slice(0, text.indexOf(met));
    return { ...answer, ids, text: left, finish: 'stop-words' };
  }
  return answer;
}
