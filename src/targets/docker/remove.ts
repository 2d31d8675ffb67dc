/** Removal of containers: by id, of one run, of every owner that is dead. */
import { rmSync } from 'node:fs';
import type { ContainerInfo } from 'dockerode';
import { pollUntil } from '#core/deadline/index.ts';
import type { Engine } from './engine.ts';
import { engineError, statusOf } from './engine-error.ts';
import { ownerState } from '../host/index.ts';
import { OWNER_LABEL, RUN_LABEL, containerWordsPath } from './labels.ts';

const GONE_WITHIN_MS = 10_000;

/** Kills and removes it with its anonymous volumes; gone already is fine. Errors: those of `engineError`, `deadline`. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  await pollUntil({ ms: GONE_WITHIN_MS, everyMs: 100, what: `container ${id.slice(0, 12)} to be removed` }, async () => {
    try {
      await engine.docker.getContainer(id).remove({ force: true, v: true });
      return true;
    } catch (thrown) {
      if (statusOf(thrown) === 404) return true;
      // "removal of container … is already in progress": then it is looked for until it is gone.
      if (statusOf(thrown) === 409) return undefined;
      throw engineError(thrown, engine.socket);
    }
  });
}

/** Containers that this project started and whose labels hold `label`. */
export function listOwn(engine: Engine, label: string = RUN_LABEL): Promise<ContainerInfo[]> {
  return engine.docker.listContainers({ all: true, filters: { label: [label] } }).catch((thrown: unknown) => {
    throw engineError(thrown, engine.socket);
  });
}

/** What a killed run left: containers whose owner is dead. Gives how many there were. */
export async function sweep(engine: Engine): Promise<number> {
  const left = (await listOwn(engine)).filter(({ Labels }) => ownerState(Labels[OWNER_LABEL] ?? '') === 'dead');
  await Promise.all(left.map(({ Id }) => removeContainer(engine, Id)));
  for (const { Labels } of left) rmSync(containerWordsPath(Labels[RUN_LABEL] ?? ''), { force: true });
  return left.length;
}
