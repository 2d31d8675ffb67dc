export { diffContracts } from './diff.ts';
export { isShownBy, knownBetween, type KnownChange } from './known-changes.ts';
export { CHANGE_CLASSES, type ChangeClass, type ContractDiff, type Difference } from './types.ts';
