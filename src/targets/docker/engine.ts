import Docker from 'dockerode';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { engineError } from './engine-error.ts';

/** A Docker engine of this host that answers. */
export interface Engine {
  readonly docker: Docker;
  /** Path of its Unix socket. */
  readonly socket: string;
}

const DEFAULT_SOCKET = '/var/run/docker.sock';
const PING_WITHIN_MS = 2_000;

/**
 * Path of the socket: DOCKER_HOST, as for the docker command, or the engine's own default.
 *
 * Errors: `docker-host-unsupported`. Published ports are on the engine's loopback, so the engine must be on this host.
 */
export function engineSocket(env: Readonly<Record<string, string | undefined>>): string {
  const host = env['DOCKER_HOST'];
  if (host === undefined || host === '') return DEFAULT_SOCKET;
  if (host.startsWith('unix://')) return host.slice('unix://'.length);
  throw new LockstepError(
    'docker-host-unsupported',
    `DOCKER_HOST is ${host.replace(/\/\/.*@/, '//…@')}, and target docker needs an engine of this host`,
    {
      hint: 'Set DOCKER_HOST=unix:///path/to/docker.sock, or start the server there and use --target external.',
    },
  );
}

/** A client of the engine, not yet asked anything. */
export function engineAt(socket: string): Engine {
  return { docker: new Docker({ socketPath: socket }), socket };
}

/** Errors: `docker-engine-missing`, `docker-engine-forbidden`, `docker-host-unsupported`, `interrupted`. */
export async function connectEngine(env: Readonly<Record<string, string | undefined>>, signal?: AbortSignal): Promise<Engine> {
  const engine = engineAt(engineSocket(env));
  // The types do not know that it takes options.
  const ping = engine.docker.ping.bind(engine.docker) as (options: { readonly abortSignal: AbortSignal }) => Promise<unknown>;
  try {
    await withDeadline({ ms: PING_WITHIN_MS, what: `the Docker engine at ${engine.socket} to answer`, signal }, (abortSignal) =>
      ping({ abortSignal }),
    );
    return engine;
  } catch (thrown) {
    throw engineError(thrown, engine.socket);
  }
}
