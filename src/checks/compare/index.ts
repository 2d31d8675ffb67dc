export { VERDICTS, type Comparison, type Divergence, type Verdict } from './types.ts';
export { firstDifference as firstDivergence, firstTextDifference as firstTextDivergence } from '#checks/laws/index.ts';
export { compareIds, type ObservedIds } from './compare-ids.ts';
export { compareText, type TextForm, withoutPrompt } from './compare-text.ts';
export { type CompareOptions } from './judge-flip.ts';
export { NO_NOISE, measureNoise, type Noise } from './noise.ts';
export { POLICIES, failsUnder, type Policy } from './policy.ts';
export { tally, type Tally } from './tally.ts';
export { windowAround, type DiffWindow, type WindowSide } from './window.ts';
