/** Which settings belong to which kind of target: for help's headings, and for what is refused beside another target. */
import type { FieldName } from './fields.ts';

export const ENDPOINTS: readonly FieldName[] = ['grpc', 'http', 'metrics', 'openai'];
export const TLS: readonly FieldName[] = ['tlsCa', 'tlsCert', 'tlsKey'];
export const ACCESS: readonly FieldName[] = [...TLS, 'header', 'bearerTokenFile'];
/** What a job can be started with as well as a container. */
export const DOCKER_AND_SLURM: readonly FieldName[] = ['image', 'engineDir', 'env', 'serverArg'];
const DOCKER_ONLY: readonly FieldName[] = ['allowFloatingTag', 'gpus', 'shmSize', 'ulimit', 'user', 'network', 'frontend'];
/** What a container is started with. */
export const DOCKER: readonly FieldName[] = [...DOCKER_AND_SLURM, ...DOCKER_ONLY];
export const SLURM: readonly FieldName[] = ['partition', 'account', 'timeLimit', 'gres', 'nodes', 'slurmArg', 'jobDir', 'queueMinutes'];

/** Headings of help, in its order; what none of them has stands before the first. */
export const HEADINGS: readonly { readonly heading: string; readonly fields: readonly FieldName[] }[] = [
  { heading: 'a server that already runs (target external, openai)', fields: [...ENDPOINTS, ...ACCESS] },
  {
    heading: 'a server that this run starts (target process, docker, slurm)',
    fields: ['repository', 'checkpoint', 'triton', 'worldSize', 'dryRun', ...DOCKER_AND_SLURM],
  },
  { heading: 'target process', fields: ['lockGpuClocks'] },
  { heading: 'target docker', fields: DOCKER_ONLY },
  { heading: 'target slurm', fields: SLURM },
];
