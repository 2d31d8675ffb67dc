/** An external target: does every address answer, is the server ready, what is it? */
import { LockstepError } from '#core/errors/index.ts';
import { accessFiles, replicasOf } from '#core/config/index.ts';
import { connectExternalTarget, readAccess } from '#targets/external/index.ts';
import type { Endpoints } from '#targets/types.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok } from './finding.ts';

const READY_WITHIN_MS = 4_000;

export const examineTarget: Examination = async ({ settings, cwd, signal }) => {
  if (settings.target !== 'external') return [];
  const missing = (['grpc', 'http'] as const).filter((name) => settings[name] === undefined);
  if (missing.length > 0) {
    return [
      fail(
        'target',
        `external, but ${missing.map((name) => `--${name}`).join(' and ')} is not given`,
        'Add the addresses of the running server.',
      ),
    ];
  }
  try {
    const access = readAccess(accessFiles(settings, cwd));
    const replicas = replicasOf(settings);
    return await Promise.all(replicas.map((replica) => lookAt({ ...replica, access }, replicas.length > 1, signal)));
  } catch (thrown) {
    return [failed(thrown)];
  }
};

async function lookAt(endpoints: Endpoints, oneOfSeveral: boolean, signal: AbortSignal): Promise<Finding> {
  try {
    await using target = await connectExternalTarget({ endpoints, signal, readyWithinMs: READY_WITHIN_MS });
    const { name, triton, served } = target.identity;
    return ok('target', `${oneOfSeveral ? `${endpoints.grpc}: ` : ''}${name} ${triton} is ready; models: ${served}`);
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): Finding {
  const error = LockstepError.from(thrown);
  return fail('target', error.message, error.hint ?? 'Start the server, or correct the address.');
}
