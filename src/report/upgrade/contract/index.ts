export { diffContracts } from './diff.ts';
export { isShownBy, knownBetween, type KnownChange } from './known-changes.ts';
export type { ContractDiff, Difference } from './types.ts';
