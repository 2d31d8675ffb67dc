/** Model repositories, made and audited. */
export type { Audit, Finding, Where } from './audit/finding.ts';
export { patchOf } from './audit/fix.ts';
export { auditLoaded, LOADED_DIFFERS, loadedModels } from './audit/loaded.ts';
export { auditRepository } from './audit/repository.ts';
export { readStatistics, type Trial, tryBehaviour } from './behaviour/index.ts';
export { KNOBS, UNSEEN_KNOBS, type Knob, type Level } from './knobs/index.ts';
export { type EngineFolder, readEngineConfig, readEngineFolder } from './engine-folder.ts';
export { type Fit, type FitOptions, fitOf, type Misfit } from './fit.ts';
export { planRepository, type PlannedRepository, type RepositoryOptions } from './plan.ts';
export { writeRepository } from './write.ts';
