/** An external target: does every address answer, is the server ready, what is it? */
import { LockstepError } from '#core/errors/index.ts';
import { accessFiles, replicasOf } from '#core/config/index.ts';
import { connectExternalTarget, readAccess } from '#targets/external/index.ts';
import { connectOpenAiTarget } from '#targets/openai/index.ts';
import type { Endpoints } from '#targets/types.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok } from './finding.ts';

const READY_WITHIN_MS = 4_000;

export const examineTarget: Examination = async ({ settings, cwd, signal }) => {
  if (settings.target !== 'external' && settings.target !== 'openai') return [];
  const needed = settings.target === 'openai' ? (['openai'] as const) : (['grpc', 'http'] as const);
  const missing = needed.filter((name) => settings[name] === undefined);
  if (missing.length > 0) {
    return [
      fail(
        'target',
        `${settings.target}, but ${missing.map((name) => `--${name}`).join(' and ')} is not given`,
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
    const { openai = '' } = endpoints;
    await using target =
      endpoints.grpc === ''
        ? await connectOpenAiTarget({ endpoints: { ...endpoints, openai }, signal, readyWithinMs: READY_WITHIN_MS })
        : await connectExternalTarget({ endpoints, signal, readyWithinMs: READY_WITHIN_MS });
    const { name, triton, served } = target.identity;
    const which = oneOfSeveral ? `${endpoints.grpc === '' ? openai : endpoints.grpc}: ` : '';
    return ok('target', `${which}${name === undefined ? 'the endpoint' : `${name} ${triton}`} is ready; models: ${served}`);
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): Finding {
  const error = LockstepError.from(thrown);
  return fail('target', error.message, error.hint ?? 'Start the server, or correct the address.');
}
