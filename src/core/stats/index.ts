export { zeroDivergenceBound, trialsToProve, chanceToSee } from './zero-divergence-bound.ts';
export { clopperPearsonInterval, clopperPearsonLower, clopperPearsonUpper } from './clopper-pearson.ts';
export { hazardBound } from './hazard-bound.ts';
export { sprt, type Sprt, type SprtDesign } from './sprt.ts';
export { chanceToPass, pool } from './rerun-policy.ts';
export { rankSum, type RankSum } from './rank-sum.ts';
export { formatBound } from './format-bound.ts';
export { FLOAT32_RESOLUTION } from './float32-resolution.ts';
