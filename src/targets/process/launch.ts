/** The command line and the environment of a server of this host. */
import type { TritonLayout } from './layout.ts';
import { mpirunCommand } from './mpirun.ts';

/** The server's own grace for requests in flight. */
const EXIT_TIMEOUT_S = 5;

export interface LaunchParts {
  readonly options: {
    readonly repository: string;
    readonly worldSize?: number;
    /** Further arguments of tritonserver. */
    readonly args?: readonly string[];
  };
  readonly layout: TritonLayout;
  readonly models: readonly string[];
  /** Ports on loopback. */
  readonly listen: { readonly http: number; readonly grpc: number; readonly metrics: number };
  /** Names of the server's shared memory begin with it. */
  readonly prefix: string;
}

/** One rank, or several through mpirun as the stock launch script starts them. */
export function serverCommand({ options, layout, models, listen, prefix }: LaunchParts): readonly string[] {
  const { worldSize = 1 } = options;
  const everyRank = [
    ...(layout.backends === undefined ? [] : [`--backend-directory=${layout.backends}`]),
    ...(layout.caches === undefined ? [] : [`--cache-directory=${layout.caches}`]),
    '--http-address=127.0.0.1',
    '--grpc-address=127.0.0.1',
    '--metrics-address=127.0.0.1',
    `--exit-timeout-secs=${EXIT_TIMEOUT_S}`,
    ...(options.args ?? []),
  ];
  const alone = [
    layout.program,
    `--model-repository=${options.repository}`,
    `--http-port=${listen.http}`,
    `--grpc-port=${listen.grpc}`,
    `--metrics-port=${listen.metrics}`,
    ...everyRank,
    '--model-control-mode=explicit',
    ...models.map((name) => `--load-model=${name}`),
    `--backend-config=python,shm-region-prefix-name=${prefix}`,
  ];
  const ranks = { worldSize, program: layout.program, repository: options.repository, ports: listen, prefix };
  return worldSize === 1 ? alone : mpirunCommand({ ...ranks, more: everyRank });
}

export function serverEnvironment(layout: TritonLayout): NodeJS.ProcessEnv {
  const { PYTHONHOME: _home, PYTHONPATH: _path, VIRTUAL_ENV: _venv, ...inherited } = process.env;
  // A program of the host keeps the environment that its own models need.
  if (layout.python === undefined) return process.env;
  const libraries = [layout.python.libraryFolder, inherited['LD_LIBRARY_PATH']].filter((path) => path !== undefined && path !== '');
  return {
    ...inherited,
    PATH: `${layout.python.bin}:${inherited['PATH'] ?? ''}`,
    ...(libraries.length > 0 ? { LD_LIBRARY_PATH: libraries.join(':') } : {}),
  };
}
