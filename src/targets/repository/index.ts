/** Model repositories, made and audited. */
export { planRepository, type PlannedRepository, type RepositoryOptions } from './plan.ts';
export { writeRepository } from './write.ts';
