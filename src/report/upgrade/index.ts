/** Two sides of an upgrade: recorded one after the other, compared, judged, and told. */
export { bisectCase } from './bisect-case.ts';
export type { AnswerDifference } from './compare-answers.ts';
export { diffContracts, isShownBy, knownBetween, type ContractDiff } from './contract/index.ts';
export { firstBad } from './first-bad.ts';
export { contractMarkdown, upgradeMarkdown } from './markdown.ts';
export { readPolicy } from './policy.ts';
export { readSide, readUpgrade } from './read.ts';
export { recordSide } from './record-side.ts';
export type { Side } from './side.ts';
export { judgeUpgrade, type Upgrade } from './verdict.ts';
