/** What each rank of one deployment is started with. */
export interface RanksOptions {
  readonly worldSize: number;
  readonly program: string;
  readonly repository: string;
  readonly ports?: { readonly grpc: number; readonly http: number; readonly metrics: number };
  /** Beginning of the names of a rank's shared memory, to which the rank is added. */
  readonly prefix?: string;
  /** Further arguments of every rank. */
  readonly more?: readonly string[];
}

/**
 * The command that starts a deployment of several GPUs, argument by argument as the stock script composes it: every rank is
 * a tritonserver, only the first serves requests and loads the whole repository, and the ports are given twice.
 *
 * Source: NVIDIA/TensorRT-LLM, triton_backend/scripts/launch_triton_server.py, get_cmd. The colon behind the last rank is its too.
 */
export function mpirunCommand({ worldSize, program, repository, ports, prefix = 'prefix', more = [] }: RanksOptions): readonly string[] {
  const { grpc, http, metrics } = ports ?? STOCK_PORTS;
  const listen = [`--grpc-port=${grpc}`, `--http-port=${http}`, `--metrics-port=${metrics}`];
  const ranks = Array.from({ length: worldSize }, (_, rank) => [
    '-n',
    '1',
    program,
    `--model-repository=${repository}`,
    ...listen,
    ...(rank === 0 ? [] : ['--model-control-mode=explicit', '--load-model=tensorrt_llm']),
    ...listen,
    '--disable-auto-complete-config',
    `--backend-config=python,shm-region-prefix-name=${prefix}${rank}_`,
    ...more,
    ':',
  ]);
  return ['mpirun', '--allow-run-as-root', ...ranks.flat()];
}

const STOCK_PORTS = { grpc: 8001, http: 8000, metrics: 8002 };
/** Where the containers have it. */
export const STOCK_PROGRAM = '/opt/tritonserver/bin/tritonserver';
