import { LockstepError } from '#core/errors/index.ts';

/** What dockerode throws: an engine's refusal with a status, or the error of a socket. */
export interface EngineFailure {
  readonly statusCode?: number;
  readonly json?: unknown;
  readonly code?: string;
  readonly message?: string;
}

/** `status` of an engine's refusal: 404 gone, 409 in a state that does not allow it, 304 done already. */
export function statusOf(thrown: unknown): number | undefined {
  return (thrown as EngineFailure | null)?.statusCode;
}

/** The engine's own words, without dockerode's frame. */
export function wordsOf(thrown: unknown): string {
  const { json, message = String(thrown) } = (thrown ?? {}) as EngineFailure;
  const words = (json as { readonly message?: unknown } | undefined)?.message;
  return (typeof words === 'string' ? words : message).trim();
}

interface Known {
  readonly words: RegExp;
  readonly error: (match: RegExpExecArray, words: string) => LockstepError;
}

/** Refusals of Docker 20.10 and later as they were seen (docs/observed.md#docker); the GPU's in the words of nvidia-container-cli. */
const REFUSALS: readonly Known[] = [
  {
    words: /could not select device driver|Unknown runtime specified nvidia|nvidia-container-runtime.*(?:not found|no such file)/i,
    error: (_, words) =>
      new LockstepError('nvidia-runtime-missing', 'the Docker engine has no NVIDIA runtime, so it cannot give a container GPUs', {
        context: { engine: words },
        hint: 'Install the NVIDIA Container Toolkit on the host of the engine and restart the engine, or say --gpus none.',
      }),
  },
  {
    words: /nvidia-container-cli: .*?(?:device error: (\S+): )?unknown device|unresolvable CDI devices (\S+)/i,
    error: (match, words) =>
      new LockstepError('gpu-not-found', `the host has no GPU ${match[1] ?? match[2] ?? 'of that name'}`, {
        context: { engine: words },
        hint: 'List the GPUs with nvidia-smi -L and give --gpus an index or a UUID from there.',
      }),
  },
  {
    words: /nvidia-container-cli: (.*)/i,
    error: (match, words) =>
      new LockstepError('nvidia-runtime-missing', `the NVIDIA runtime of the Docker engine fails: ${match[1]}`, {
        context: { engine: words },
        hint: 'Run nvidia-smi on the host: the driver must work there before a container can have a GPU.',
      }),
  },
  {
    words: /(?:listen tcp4? |Bind for )(\S+?):(\d+)(?::| failed).*(?:address already in use|port is already allocated)/,
    error: (match, words) =>
      new LockstepError('port-taken', `port ${match[2]} of ${match[1]} is in use by another program`, {
        context: { engine: words },
        hint: 'Stop what listens there (ss -ltnp shows it), or choose another port; 0 takes a free one.',
      }),
  },
  {
    words: /error setting rlimit type (\d+): operation not permitted/,
    error: (match, words) => {
      const limit = LIMITS[Number(match[1])] ?? `number ${match[1]}`;
      return new LockstepError('ulimit-refused', `the engine may not raise the limit ${limit} of a container (it lacks CAP_SYS_RESOURCE)`, {
        context: { limit, engine: words },
        hint: `Leave --ulimit ${limit}=… out, or give a value that the engine's own hard limit allows (prlimit -p $(pidof dockerd)).`,
      });
    },
  },
  {
    words: /bind source path does not exist: (.*)/,
    error: (match) =>
      new LockstepError('mount-source-missing', `there is no ${match[1]} on the host of the engine`, {
        hint: 'Correct the path; it is read on the host of the Docker engine.',
      }),
  },
  {
    words: /exec: "?([^":]+)"?: (?:executable file not found|stat .*: no such file)|exec: "(.*)": .*no such file/,
    error: (match, words) =>
      new LockstepError('image-without-server', `the image has no program ${match[1] ?? match[2]}`, {
        context: { engine: words },
        hint: 'Use an image of tritonserver, such as nvcr.io/nvidia/tritonserver:25.12-trtllm-python-py3.',
      }),
  },
  {
    words: /network (\S+) not found/,
    error: (match) =>
      new LockstepError('network-missing', `the Docker engine has no network ${match[1]}`, {
        hint: 'docker network ls lists them; leave --network out for the default one.',
      }),
  },
  {
    words: /no such image: (\S+)/i,
    error: (match) =>
      new LockstepError('image-missing', `the Docker engine has no image ${match[1]}`, {
        hint: 'docker images --no-trunc --digests lists those that there are.',
      }),
  },
];

/** Of setrlimit(2), as they are named in --ulimit. */
const LIMITS: Readonly<Record<number, string>> = { 3: 'stack', 4: 'core', 6: 'nproc', 7: 'nofile', 8: 'memlock', 14: 'rtprio' };

/**
 * What an engine threw → an error with a code and a next step.
 *
 * Errors: `docker-engine-missing`, `docker-engine-forbidden`, `docker-engine-gone`, `nvidia-runtime-missing`, `gpu-not-found`,
 * `port-taken`, `ulimit-refused`, `mount-source-missing`, `image-without-server`, `network-missing`, `image-missing`,
 * `docker-refused` for what is none of these; a LockstepError passes through.
 */
export function engineError(thrown: unknown, socket: string): LockstepError {
  if (thrown instanceof LockstepError) return thrown.code === 'deadline' ? missing(socket, thrown) : thrown;
  const { code, message = '' } = (thrown ?? {}) as EngineFailure;
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK') return missing(socket, thrown);
  if (code === 'EACCES' || code === 'EPERM') {
    return new LockstepError('docker-engine-forbidden', `this user may not use the Docker engine at ${socket}`, {
      hint: 'Add the user to the group of the socket (sudo usermod -aG docker "$USER", then log in again), or use a rootless engine with DOCKER_HOST.',
      cause: thrown,
    });
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || /socket hang up|^aborted$/.test(message)) return engineGone(socket, thrown);
  const words = wordsOf(thrown);
  for (const known of REFUSALS) {
    const match = known.words.exec(words);
    if (match !== null) return known.error(match, words);
  }
  if (statusOf(thrown) === undefined) return LockstepError.from(thrown);
  return new LockstepError('docker-refused', `the Docker engine refuses: ${words}`, {
    hint: "Look into the engine's own log (journalctl -u docker).",
    cause: thrown,
  });
}

/** The engine answered before and does no more. */
export function engineGone(socket: string, cause?: unknown): LockstepError {
  return new LockstepError('docker-engine-gone', `the Docker engine at ${socket} went away`, {
    hint: 'Start it again; what this run left there is removed by the next run.',
    cause,
  });
}

function missing(socket: string, cause: unknown): LockstepError {
  return new LockstepError('docker-engine-missing', `no Docker engine answers at ${socket}`, {
    hint: 'Start it (sudo systemctl start docker), or name another with DOCKER_HOST=unix:///path/to/docker.sock.',
    cause,
  });
}
