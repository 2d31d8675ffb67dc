import { LockstepError } from '#core/errors/index.ts';
import { answersAtAll } from './answers-at-all.ts';
import { blsIsEnsemble } from './bls-is-ensemble.ts';
import { cancelStops } from './cancel-stops.ts';
import { countLimit } from './count-limit.ts';
import { deltasEqualWhole } from './deltas-equal-whole.ts';
import { doneMarker } from './done-marker.ts';
import { endsAlike } from './ends-alike.ts';
import { eosEnding } from './eos-ending.ts';
import { finalFlagOnce } from './final-flag-once.ts';
import { finishReasonTrue } from './finish-reason-true.ts';
import { framing } from './framing.ts';
import { greedyIsArgmax } from './greedy-is-argmax.ts';
import { idsInVocabulary } from './ids-in-vocabulary.ts';
import { lengthEnding } from './length-ending.ts';
import { logProbsReal } from './log-probs-real.ts';
import { minTokens } from './min-tokens.ts';
import { noBrokenUtf8 } from './no-broken-utf8.ts';
import { noContamination } from './no-contamination.ts';
import { noControlText } from './no-control-text.ts';
import { noEmptyEvent } from './no-empty-event.ts';
import { oneObject } from './one-object.ts';
import { promptIds } from './prompt-ids.ts';
import { requestIdEchoed } from './request-id-echoed.ts';
import { roleFirst } from './role-first.ts';
import { sameIds } from './same-ids.ts';
import { sameText } from './same-text.ts';
import { sequenceLengthsTrue } from './sequence-lengths-true.ts';
import { stopWords } from './stop-words.ts';
import { textIsTrueDecode } from './text-is-true-decode.ts';
import { textsOnlyGrow } from './texts-only-grow.ts';
import type { Law } from './types.ts';
import { usageCounts } from './usage-counts.ts';

export type { Answer, Gap, KnownGap, Law, LawContext, Violation } from './types.ts';
export { returnsPrompt } from './returns-prompt.ts';
export { servesCounts } from './serves-counts.ts';
export { ENGINE_RAN_ON } from './types.ts';
export { GAPS } from './gaps.ts';
export { CANCELS_KILL, diedOfCancels } from './cancels-kill.ts';
export { LOST_STREAM_END } from './lost-stream-end.ts';
export { gapFor, judge, type Broken, type GapMet, type Judgement } from './judge.ts';
export { servedAnswer, servesTrtllm, streamedText } from './trtllm-serve.ts';
export { answerOf } from './answer-of.ts';
export { answerOn } from './answer-on.ts';
export { certainText, firstDifference, firstTextDifference, rightPromptIds, servedPromptIds, TORCH_ROUTES } from './observed.ts';

/** Every law about one transcript, in the order in which a reader wants to see them fail. */
export const LAWS: readonly Law[] = [
  answersAtAll,
  framing,
  requestIdEchoed,
  oneObject,
  finalFlagOnce,
  doneMarker,
  roleFirst,
  finishReasonTrue,
  promptIds,
  idsInVocabulary,
  sequenceLengthsTrue,
  deltasEqualWhole,
  textIsTrueDecode,
  textsOnlyGrow,
  eosEnding,
  lengthEnding,
  stopWords,
  endsAlike,
  countLimit,
  minTokens,
  usageCounts,
  noEmptyEvent,
  noBrokenUtf8,
  noControlText,
  greedyIsArgmax,
  logProbsReal,
  sameIds,
  sameText,
  blsIsEnsemble,
  noContamination,
  cancelStops,
];

/** A law by its id. Errors: `law-unknown`; a misspelt claim must not hold by vacuum. */
export function law(id: string): Law {
  const found = LAWS.find((l) => l.id === id);
  if (found !== undefined) return found;
  throw new LockstepError('law-unknown', `no law is called ${id}`, { hint: `Choose one of: ${LAWS.map((l) => l.id).join(', ')}.` });
}
