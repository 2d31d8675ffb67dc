/** Model repositories, made and audited. */
export { type EngineFolder, readEngineFolder } from './engine-folder.ts';
export { planRepository, type PlannedRepository, type RepositoryOptions } from './plan.ts';
export { writeRepository } from './write.ts';
