/** Servers under test: one call starts, or finds, the one that a configuration asks for. */
import { isAbsolute } from 'node:path';
import type { RunConfig } from '#core/config/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type CoreProfile, followCore, profileOf } from '#core/profile/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import type { DockerServer, DockerServerOptions } from './docker/index.ts';
import { startEmbeddedTarget } from './embedded/index.ts';
import { connectExternalTarget, readAccess } from './external/index.ts';
import { findLiving, hostFacts } from './host/index.ts';
import { modelRepository, requireRepository, servable } from './model-repository.ts';
import { connectOpenAiTarget } from './openai/index.ts';
import type { Target } from './types.ts';
import { registerForCleanup } from './watchdog/index.ts';

export { identityAsLoaded } from './as-loaded.ts';
export type { Endpoints, Health, ProcessRef, Target, TargetKind } from './types.ts';

export type TargetConfig = Pick<
  RunConfig,
  | 'target'
  | 'grpc'
  | 'http'
  | 'metrics'
  | 'openai'
  | 'access'
  | 'profile'
  | 'faults'
  | 'checkpoint'
  | 'repository'
  | 'triton'
  | 'worldSize'
  | 'lockGpuClocks'
  | 'docker'
  | 'slurm'
  | 'tokenizer'
>;

/**
 * Starts the target and waits until it is ready; whatever was started is stopped before an error is thrown.
 *
 * Errors: `target-unreachable`, `target-exited`, `target-not-ready`, `interrupted`, and what lays out a real server.
 */
export async function startTarget(config: TargetConfig, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Target> {
  if (config.target === 'openai') {
    return connectOpenAiTarget({ endpoints: { ...frontEndOf(config), access: readAccess(config.access) }, signal: options.signal });
  }
  if (config.target === 'external') {
    return connectExternalTarget({ endpoints: { ...endpointsOf(config), access: readAccess(config.access) }, signal: options.signal });
  }
  const { checkpoint = TINY_CHECKPOINT, profile, faults } = config;
  const repositoryFor = (core: CoreProfile) =>
    config.repository === undefined ? modelRepository(checkpoint, core) : requireRepository(config.repository);
  if (config.target === 'process') return startProcessTarget(config, repositoryFor, options.signal);
  if (config.target === 'docker') {
    return startContainer(config, { signal: options.signal, notice: (line) => void process.stderr.write(`docker: ${line}\n`) });
  }
  const repository = repositoryFor(profileOf(profile).core);
  if (config.target === 'slurm') return startSlurmTarget(config, options.signal);
  return startEmbeddedTarget({
    server: { ...EMBEDDED_DEFAULTS, profile, faults, checkpoint, repository },
    signal: options.signal,
  });
}

/** The other servers that an external target names; nothing has to be stopped. Errors: as `startTarget`. */
export async function connectReplicas(
  config: Pick<RunConfig, 'replicas' | 'access'>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly Target[]> {
  if (config.replicas.length === 0) return [];
  const access = readAccess(config.access);
  return Promise.all(
    config.replicas.map(({ openai = '', ...replica }) =>
      replica.grpc === ''
        ? connectOpenAiTarget({ endpoints: { ...replica, openai, access }, ...options })
        : connectExternalTarget({ endpoints: { ...replica, openai: openai === '' ? undefined : openai, access }, ...options }),
    ),
  );
}

/**
 * The model repository that several started targets can all serve, where the release of one of them decides its form: else what is
 * served would differ, and not the servers. Undefined: each serves what it does anyway.
 */
export function sameRepository(configs: readonly Pick<RunConfig, 'target' | 'checkpoint' | 'repository' | 'triton'>[]): string | undefined {
  const own = configs.filter(({ target, repository }) => (target === 'process' || target === 'docker') && repository === undefined);
  const version = (triton: string | undefined) => (triton !== undefined && isAbsolute(triton) ? undefined : triton);
  const needy = own.map(({ triton }) => coreOf(version(triton))).find((core) => core.ensembleNeedsAllOutputs.value);
  const [first] = own;
  return needy === undefined || own.length !== configs.length ? undefined : modelRepository(first?.checkpoint ?? TINY_CHECKPOINT, needy);
}

/** Of a version; the default release's where there is none. */
const coreOf = (version: string | undefined): CoreProfile => profileOf(followCore('default', version).profile).core;

/** Real servers do not end with their parent and leave shared memory behind, hence the watchdog. */
async function startProcessTarget(
  { triton, worldSize, lockGpuClocks: mhz }: TargetConfig,
  repositoryFor: (core: CoreProfile) => string,
  signal: AbortSignal | undefined,
): Promise<Target> {
  const { installedTriton, layOutTriton, lockGpuClocks, startTritonServer } = await import('./process/index.ts');
  // Shared-memory names of this runner's servers, and so the command lines of their stubs, begin with this.
  const mark = `lockstep_${process.pid}_`;
  const registration = registerForCleanup({ marks: [mark], shmPrefixes: [mark] });
  // What could not be stopped stays with the watchdog.
  const releaseIfGone = () => {
    if (findLiving(mark).length === 0) registration.release();
  };
  let clocks: Awaited<ReturnType<typeof lockGpuClocks>> | undefined;
  const free = async () => {
    const held = clocks;
    clocks = undefined;
    await held?.reset();
  };
  try {
    if (mhz !== undefined) clocks = await lockGpuClocks(mhz, signal);
    const own = triton !== undefined && isAbsolute(triton);
    // What is laid out from PyPI computes on the CPU.
    const facts = own ? await hostFacts({ signal }) : {};
    const layout = own ? installedTriton(triton) : await layOutTriton({ version: triton, signal });
    const start = async (core: CoreProfile) => startTritonServer({ repository: servable(repositoryFor(core)), layout, worldSize, signal });
    const expected = coreOf(own ? undefined : triton);
    let server = await start(expected);
    // A program says only now what it is, and whether it can serve the repository that newer ones can.
    const actual = coreOf(server.identity['triton']);
    if (actual.ensembleNeedsAllOutputs.value !== expected.ensembleNeedsAllOutputs.value) {
      await server.stop();
      server = await start(actual);
    }
    const stop = async () => {
      await server.stop();
      releaseIfGone();
      await free();
    };
    return {
      kind: 'process',
      endpoints: server.endpoints,
      identity: {
        ...server.identity,
        ...facts,
        ...(worldSize === 1 ? {} : { ranks: String(worldSize) }),
        ...(mhz === undefined ? {} : { 'gpu clocks': `locked to ${mhz} MHz` }),
      },
      health: () => server.health(),
      processes: () => server.processes(),
      logTail: () => server.logTail(),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (thrown) {
    releaseIfGone();
    await free().catch(() => undefined);
    throw thrown;
  }
}

export interface ContainerOptions extends Pick<DockerServerOptions, 'ports' | 'detach' | 'notice' | 'signal'> {}

/** Starts what target docker is for a configuration, and waits until it is ready. Errors: as `startDockerServer` and `cpuImage`. */
export async function startContainer(
  config: Pick<RunConfig, 'docker' | 'checkpoint' | 'repository' | 'tokenizer' | 'triton'>,
  options: ContainerOptions,
): Promise<DockerServer> {
  const { dockerSettings, startDockerServer } = await import('./docker/index.ts');
  const { docker, triton, tokenizer, checkpoint = TINY_CHECKPOINT } = config;
  if (docker === undefined) throw new LockstepError('internal', 'target docker has no settings');
  const repository = config.repository === undefined ? modelRepository(checkpoint, coreOf(triton)) : requireRepository(config.repository);
  const settings = await dockerSettings({ docker, repository, tokenizer, triton }, options);
  return startDockerServer({ settings, env: process.env, ...options });
}

/** What `startTarget` would submit for target slurm, as text. Errors: those of laying out a real server and of composing a job. */
export async function describeJob(config: TargetConfig, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
  const { describeSubmission, planJob } = await import('./slurm/index.ts');
  return describeSubmission(await planJob(config, repositoryOfJob(config), options.signal));
}

async function startSlurmTarget(config: TargetConfig, signal: AbortSignal | undefined): Promise<Target> {
  const { planJob, startSlurmServer } = await import('./slurm/index.ts');
  const notice = (line: string) => void process.stderr.write(`slurm: ${line}\n`);
  return startSlurmServer({ ...(await planJob(config, repositoryOfJob(config), signal)), env: process.env, notice, signal });
}

function repositoryOfJob({ repository, checkpoint = TINY_CHECKPOINT, triton }: TargetConfig): string {
  const version = triton !== undefined && isAbsolute(triton) ? undefined : triton;
  return repository === undefined ? modelRepository(checkpoint, coreOf(version)) : requireRepository(repository);
}

function frontEndOf({ openai }: TargetConfig): Target['endpoints'] & { readonly openai: string } {
  if (openai !== undefined) return { grpc: '', http: '', metrics: undefined, openai };
  throw new LockstepError('flags-contradict', 'target openai needs its endpoint', { hint: 'Add --openai URL, the base URL without /v1.' });
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
