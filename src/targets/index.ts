/** Servers under test: one call starts, or finds, the one that a configuration asks for. */
import type { RunConfig } from '#core/config/index.ts';
import { MODEL_REPOSITORY, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { startEmbeddedTarget } from './embedded/index.ts';
import { connectExternalTarget } from './external/index.ts';
import type { Target } from './types.ts';
import { registerForCleanup } from './watchdog/index.ts';

export type { Endpoints, Health, ProcessRef, Target, TargetKind } from './types.ts';

export type TargetConfig = Pick<RunConfig, 'target' | 'grpc' | 'http' | 'metrics' | 'openai' | 'profile' | 'faults'>;

/**
 * Starts the target and waits until it is ready; whatever was started is stopped before an error is thrown.
 *
 * Errors: `target-unreachable`, `target-exited`, `target-not-ready`, `interrupted`, and what lays out a real server.
 */
export async function startTarget(config: TargetConfig, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Target> {
  if (config.target === 'external') return connectExternalTarget({ endpoints: endpointsOf(config), signal: options.signal });
  if (config.target === 'process') return startProcessTarget(options.signal);
  return startEmbeddedTarget({
    server: {
      grpcPort: 0,
      httpPort: 0,
      metricsPort: 0,
      openaiPort: 0,
      host: '127.0.0.1',
      profile: config.profile,
      faults: config.faults,
      engine: 'llama',
      reduction: 'invariant',
      stepMs: 0,
      checkpoint: TINY_CHECKPOINT,
      repository: MODEL_REPOSITORY,
    },
    signal: options.signal,
  });
}

/** Real servers do not end with their parent and leave shared memory behind, hence the watchdog. */
async function startProcessTarget(signal: AbortSignal | undefined): Promise<Target> {
  const { startTritonServer } = await import('./process/index.ts');
  // Shared-memory names of this runner's servers, and so the command lines of their stubs, begin with this.
  const mark = `lockstep_${process.pid}_`;
  const registration = registerForCleanup({ marks: [mark], shmPrefixes: [mark] });
  try {
    const server = await startTritonServer({ repository: MODEL_REPOSITORY, signal });
    const stop = async () => {
      await server.stop();
      registration.release();
    };
    return {
      kind: 'process',
      endpoints: server.endpoints,
      identity: server.identity,
      health: () => server.health(),
      processes: () => server.processes(),
      logTail: () => server.logTail(),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (thrown) {
    registration.release();
    throw thrown;
  }
}

function endpointsOf(config: TargetConfig): Target['endpoints'] {
  const { grpc, http, metrics, openai } = config;
  if (grpc === undefined || http === undefined) {
    throw new LockstepError('flags-contradict', 'target external needs a gRPC and an HTTP address', {
      hint: 'Add --grpc HOST:PORT and --http HOST:PORT.',
    });
  }
  return { grpc, http, metrics, openai };
}
