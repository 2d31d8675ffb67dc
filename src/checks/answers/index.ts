/** Answers of a target as a record, and another target forced along them. */
export { forceAnswers } from './force.ts';
export { recordAnswers, type RecordOptions } from './record.ts';
export type { AnsweredRequest, AnswersRecord, Forced, ForcedFlip, Repeat } from './types.ts';
