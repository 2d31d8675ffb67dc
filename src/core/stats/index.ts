export { zeroDivergenceBound } from './zero-divergence-bound.ts';
export { clopperPearsonUpper } from './clopper-pearson.ts';
export { hazardBound } from './hazard-bound.ts';
export { formatBound } from './format-bound.ts';
export { FLOAT32_RESOLUTION } from './float32-resolution.ts';
export { type RateDecision, rateKept } from './rate-kept.ts';
