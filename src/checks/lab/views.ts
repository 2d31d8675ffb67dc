import type { Answer } from '#checks/laws/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { answerViews } from './answer-views.ts';
import { curlFor } from './curl-of.ts';
import { exchangeView } from './exchange-view.ts';
import type { Lab } from './lab.ts';
import { promptViews } from './prompt-views.ts';
import type { Failure } from './result.ts';

/** What a failing answer is shown beside. */
export interface Beside {
  readonly truth?: Answer | undefined;
  /** Another answer that it should equal. */
  readonly reference?: Transcript | undefined;
  /** The client asked for a stop once so many data events had arrived. */
  readonly cancelAfter?: number | undefined;
}

/** What a report can show of a failure: both answers piece by piece, how they came, the prompt as ids, a curl line. Bounded in size. */
export function viewsOf(
  lab: Lab,
  t: Transcript,
  { truth, reference, cancelAfter }: Beside,
): Pick<Failure, 'answers' | 'exchanges' | 'prompts' | 'curl'> {
  const answers = truth === undefined ? [] : answerViews(t, truth, lab.tokenizer);
  const prompts = promptViews(t, lab.tokenizer, lab.profile);
  const exchanges = [exchangeView('observed', t, cancelAfter), ...(reference === undefined ? [] : [exchangeView('reference', reference)])];
  const curl = curlFor(lab, t.case);
  return {
    ...(answers.length === 0 ? {} : { answers }),
    exchanges,
    ...(prompts.length === 0 ? {} : { prompts }),
    ...(curl === undefined ? {} : { curl }),
  };
}
