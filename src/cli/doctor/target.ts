/** An external target: does every address answer, is the server ready, what is it? */
import { LockstepError } from '#core/errors/index.ts';
import { connectExternalTarget } from '#targets/external/index.ts';
import type { Examination } from './finding.ts';
import { fail, ok } from './finding.ts';

const READY_WITHIN_MS = 4_000;

export const examineTarget: Examination = async ({ settings, signal }) => {
  if (settings.target !== 'external') return [];
  const { grpc, http, metrics, openai } = settings;
  const missing = (['grpc', 'http'] as const).filter((name) => settings[name] === undefined);
  if (grpc === undefined || http === undefined) {
    return [
      fail(
        'target',
        `external, but ${missing.map((name) => `--${name}`).join(' and ')} is not given`,
        'Add the addresses of the running server.',
      ),
    ];
  }
  try {
    await using target = await connectExternalTarget({
      endpoints: { grpc, http, metrics, openai },
      signal,
      readyWithinMs: READY_WITHIN_MS,
    });
    const { name, triton, served } = target.identity;
    return [ok('target', `${name} ${triton} is ready; models: ${served}`)];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return [fail('target', error.message, error.hint ?? 'Start the server, or correct the address.')];
  }
};
