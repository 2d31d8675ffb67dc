/** What the engine is asked to run: pure, so that it can be read and compared as text. */
import type { ContainerCreateOptions } from 'dockerode';
import type { Image } from './image.ts';
import { type Mounts, REPOSITORY_TARGET } from '../tritonserver/index.ts';
import { OWNER_LABEL, RUN_LABEL } from './labels.ts';
import type { DockerSettings } from './settings.ts';
import { parseGpus, parseSize, parseUlimit } from './units.ts';

/** Ports on this host's loopback; 0 lets the engine choose a free one. */
export interface Ports {
  readonly http: number;
  readonly grpc: number;
  readonly metrics: number;
  readonly openai: number;
}

/** Ports inside the container, the server's own defaults. */
export const INNER: Ports = { http: 8000, grpc: 8001, metrics: 8002, openai: 9000 };

const LOOPBACK = '127.0.0.1';
/** The server's own grace for requests in flight; a gRPC stream that is left open outlasts it (docs/observed.md#docker). */
const EXIT_TIMEOUT_S = 5;
/** Shipped in NVIDIA's images since 24.11. */
const OPENAI_MAIN = '/opt/tritonserver/python/openai/openai_frontend/main.py';

/** Limits that NVIDIA's pages start tritonserver with: pinned memory, and stacks of many threads. */
export const USUAL_ULIMITS = ['memlock=-1', 'stack=67108864'];

export interface CommandParts {
  /** Where the server listens inside its network: the container's own ports, or free ones of the host on its network. */
  readonly listen: Ports;
  readonly onHostNetwork: boolean;
  readonly models: readonly string[];
  /** Folder in the container. */
  readonly tokenizer: string | undefined;
  readonly frontend: DockerSettings['frontend'];
  readonly serverArgs: readonly string[];
}

/** The command line in the container. */
export function serverCommand(parts: CommandParts): string[] {
  return parts.frontend === 'openai' ? openaiCommand(parts) : tritonCommand(parts);
}

function tritonCommand({ listen, onHostNetwork, models, serverArgs }: CommandParts): string[] {
  const address = onHostNetwork ? ['http', 'grpc', 'metrics'].map((name) => `--${name}-address=${LOOPBACK}`) : [];
  return [
    'tritonserver',
    `--model-repository=${REPOSITORY_TARGET}`,
    ...address,
    `--http-port=${listen.http}`,
    `--grpc-port=${listen.grpc}`,
    `--metrics-port=${listen.metrics}`,
    `--exit-timeout-secs=${EXIT_TIMEOUT_S}`,
    // So that claims can unload a model and load it again.
    ...(models.length > 0 ? ['--model-control-mode=explicit', ...models.map((name) => `--load-model=${name}`)] : []),
    ...serverArgs,
  ];
}

/**
 * NVIDIA's OpenAI front end with its KServe front ends, so that raw, ensemble and OpenAI answers come from one engine. Flags as in
 * triton-inference-server/server python/openai/openai_frontend/main.py; its own port also serves Triton's /metrics.
 */
function openaiCommand({ listen, onHostNetwork, tokenizer, serverArgs }: CommandParts): string[] {
  return [
    'python3',
    OPENAI_MAIN,
    `--model-repository=${REPOSITORY_TARGET}`,
    ...(tokenizer === undefined ? [] : [`--tokenizer=${tokenizer}`]),
    `--host=${onHostNetwork ? LOOPBACK : '0.0.0.0'}`,
    `--openai-port=${listen.openai}`,
    '--enable-kserve-frontends',
    `--kserve-http-port=${listen.http}`,
    `--kserve-grpc-port=${listen.grpc}`,
    ...serverArgs,
  ];
}

export interface ContainerParts {
  readonly name: string;
  readonly image: Image;
  readonly command: readonly string[];
  readonly mounts: Mounts;
  readonly settings: DockerSettings;
  /** As the engine applies them, after what it refused was left out. */
  readonly ulimits: readonly string[];
  readonly gpus: string;
  /** With values. */
  readonly env: readonly string[];
  /** Ports of the host; those of the container are `INNER`. */
  readonly ports: Ports;
  readonly memoryBytes?: number | undefined;
  readonly run: string;
  readonly owner: string;
}

/** The body of the engine's POST /containers/create. */
export function containerOptions(parts: ContainerParts): ContainerCreateOptions {
  const { settings, image } = parts;
  const onHost = settings.network === 'host';
  const published = publishedPorts(settings.frontend);
  return {
    name: parts.name,
    Image: image.id,
    Cmd: [...parts.command],
    Env: [...parts.env],
    ...(settings.user === undefined ? {} : { User: settings.user }),
    Labels: { [RUN_LABEL]: parts.run, [OWNER_LABEL]: parts.owner },
    ...(onHost ? {} : { ExposedPorts: Object.fromEntries(published.map((name) => [`${INNER[name]}/tcp`, {}])) }),
    HostConfig: {
      // A source that does not exist is refused; the older Binds would make an empty folder of it.
      Mounts: parts.mounts.all.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target, ReadOnly: true })),
      // Equal: no swap beside it.
      ...(parts.memoryBytes === undefined ? {} : { Memory: parts.memoryBytes, MemorySwap: parts.memoryBytes }),
      ShmSize: parseSize(settings.shmSize),
      Ulimits: parts.ulimits.map(parseUlimit),
      DeviceRequests: parseGpus(parts.gpus),
      ...(settings.network === undefined ? {} : { NetworkMode: settings.network }),
      ...(onHost
        ? {}
        : {
            PortBindings: Object.fromEntries(
              published.map((name) => [`${INNER[name]}/tcp`, [{ HostIp: LOOPBACK, HostPort: String(parts.ports[name]) }]]),
            ),
          }),
    },
  };
}

/** The OpenAI front end serves Triton's metrics on its own port. */
export function publishedPorts(frontend: DockerSettings['frontend']): readonly (keyof Ports)[] {
  return frontend === 'openai' ? ['http', 'grpc', 'openai'] : ['http', 'grpc', 'metrics'];
}
