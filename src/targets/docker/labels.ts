/** Labels that say whose a container is, set before it exists, so that there is no moment in which it is nobody's. */
import { lastWordsPath } from '../host/index.ts';

/** Of every container: the run that started it. */
export const RUN_LABEL = 'lockstep.run';
/** Who removes it: a process, or `detached` for nobody but `lockstep stop`. */
export const OWNER_LABEL = 'lockstep.owner';

/** Names of a run's files in shared memory begin so. */
export function sharedPrefix(run: string): string {
  return `lockstep_docker_${run}`;
}

/** The file in which a run keeps how its container ended; removed with the container. */
export function containerWordsPath(run: string): string {
  return lastWordsPath(`${sharedPrefix(run)}_`);
}
