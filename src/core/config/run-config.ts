/** The configuration of one run, complete: the command hands it to the runner's global set-up through LOCKSTEP_RUN. */
import { join, resolve } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { profileOf } from '#core/profile/index.ts';
import type { Environment } from './environment.ts';
import { RUN_VARIABLE } from './environment.ts';
import type { Settings } from './fields.ts';
import { type Replica, replicasOf } from './replicas.ts';
import { DEFAULT_JOB_DIR, PACKAGE_ROOT, TINY_CHECKPOINT } from './package-root.ts';
import { resolveSettings } from './resolve.ts';

/** Where certificates and secrets lie: read when the target is reached. */
export interface AccessFiles {
  readonly tlsCa: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly bearerTokenFile: string | undefined;
  /** `name: value`, as given. */
  readonly headers: readonly string[];
}

export interface RunConfig {
  readonly target: 'embedded' | 'process' | 'docker' | 'slurm' | 'external' | 'openai';
  readonly grpc: string | undefined;
  readonly http: string | undefined;
  readonly metrics: string | undefined;
  readonly openai: string | undefined;
  /** Servers beside the one above, that should be as it is. */
  readonly replicas: readonly Replica[];
  /** How an external target is reached; files absolute. */
  readonly access: AccessFiles;
  /** Absolute; undefined for an external target, which serves its own. */
  readonly checkpoint: string | undefined;
  /** Absolute model repository of a server that this run starts; undefined: docker/models. */
  readonly repository: string | undefined;
  /** Absolute. */
  readonly tokenizer: string;
  /** Absolute. */
  readonly goldens: string;
  /** Absolute; undefined: the prompts that belong to the checkpoint, or general ones. */
  readonly prompts: string | undefined;
  /** A name that `profileOf` understands. */
  readonly profile: string;
  readonly faults: readonly string[];
  /** Of target process or slurm: a release, as `2.47`, or the absolute path of a program; undefined: the newest release. */
  readonly triton: string | undefined;
  /** Ranks of target process; above 1 through mpirun. */
  readonly worldSize: number;
  /** Frequency in MHz at which the GPUs of this host are held while target process runs. */
  readonly lockGpuClocks: number | undefined;
  /** Of target docker. */
  readonly docker: DockerConfig | undefined;
  /** Of target slurm. */
  readonly slurm: SlurmConfig | undefined;
  readonly seed: number;
  /** Request id that every draw is narrowed to. */
  readonly only: string | undefined;
  readonly policy: 'exact' | 'margins';
  readonly strictIdentity: boolean;
  readonly dangerous: boolean;
  /** Absolute, or undefined: not asked for. */
  readonly json: string | undefined;
  readonly junit: string | undefined;
  readonly html: string | undefined;
}

/** What the container of target docker is started with, beside what it serves. */
export interface DockerConfig {
  /** Id, digest or tag; undefined: the project's own CPU image. */
  readonly image: string | undefined;
  readonly allowFloatingTag: boolean;
  /** Absolute. */
  readonly engineDir: string | undefined;
  /** Absolute folder that the user named for the server; undefined: what the repository names is enough. */
  readonly tokenizer: string | undefined;
  /** `all`, `none`, indices or UUIDs separated by commas; undefined: all where the engine has the NVIDIA runtime. */
  readonly gpus: string | undefined;
  /** As `1g`. */
  readonly shmSize: string;
  /** As `memlock=-1` or `nofile=1024:4096`. */
  readonly ulimits: readonly string[];
  /** As `NAME=value`, or `NAME` for the value it has in the environment of whoever starts the server. */
  readonly env: readonly string[];
  readonly user: string | undefined;
  readonly network: string | undefined;
  /** Further arguments of the server. */
  readonly serverArgs: readonly string[];
  readonly frontend: 'kserve' | 'openai';
}

/** What the job of target slurm is submitted with, beside what it serves. */
export interface SlurmConfig {
  readonly partition: string | undefined;
  readonly account: string | undefined;
  /** As sbatch takes it: minutes, H:MM:SS or D-H:MM:SS. */
  readonly timeLimit: string | undefined;
  readonly gres: string | undefined;
  readonly nodes: number;
  /** Further arguments of sbatch. */
  readonly args: readonly string[];
  /** Absolute folder that this host and the nodes share. */
  readonly jobDir: string;
  readonly queueMinutes: number;
  /** As pyxis takes it; undefined: the server runs without a container. */
  readonly image: string | undefined;
  /** Absolute. */
  readonly engineDir: string | undefined;
  /** Absolute folder that the user named for the server. */
  readonly tokenizer: string | undefined;
  /** As `NAME=value`, or `NAME` for the value it has in the environment of whoever submits. */
  readonly env: readonly string[];
  /** Further arguments of the server. */
  readonly serverArgs: readonly string[];
}

export function toSlurmConfig(settings: Settings, cwd: string): SlurmConfig {
  const { partition, account, timeLimit, gres, nodes, queueMinutes, image, env } = settings;
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(cwd, path));
  return {
    partition,
    account,
    timeLimit,
    gres,
    nodes,
    args: settings.slurmArg,
    jobDir: absolute(settings.jobDir) ?? DEFAULT_JOB_DIR,
    queueMinutes,
    // What begins as a path is a file; anything else is a name in a registry.
    image: image !== undefined && /^\.{0,2}\//.test(image) ? resolve(cwd, image) : image,
    engineDir: absolute(settings.engineDir),
    tokenizer: absolute(settings.tokenizer),
    env,
    serverArgs: settings.serverArg,
  };
}

export function toDockerConfig(settings: Settings, cwd: string): DockerConfig {
  const { image, allowFloatingTag, gpus, shmSize, ulimit, env, user, network, serverArg, frontend } = settings;
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(cwd, path));
  return {
    image,
    allowFloatingTag,
    engineDir: absolute(settings.engineDir),
    tokenizer: absolute(settings.tokenizer),
    gpus,
    shmSize,
    ulimits: ulimit,
    env,
    user,
    network,
    serverArgs: serverArg,
    frontend,
  };
}

/** What names a release and not a file; a file of such a name is written `./2.47`. */
const RELEASE = /^\d+\.\d+(\.\d+)?$/;

/** Where checkpoint and tokenizer lie, absolute; undefined what an external target leaves to be named. */
export function foldersOf(
  { target, checkpoint, tokenizer }: Settings,
  cwd: string,
): { readonly checkpoint: string | undefined; readonly tokenizer: string | undefined } {
  const served = target === 'external' || target === 'openai' ? undefined : resolve(cwd, checkpoint ?? TINY_CHECKPOINT);
  return { checkpoint: served, tokenizer: tokenizer === undefined ? served : resolve(cwd, tokenizer) };
}

/** Paths become absolute, defaults that depend on the target are filled in. Errors: `tokenizer-missing`, `profile-unknown`. */
export function toRunConfig(settings: Settings, cwd: string, needs: { readonly tokenizer?: 'optional' } = {}): RunConfig {
  const folders = foldersOf(settings, cwd);
  const { checkpoint } = folders;
  const tokenizer = folders.tokenizer ?? (needs.tokenizer === 'optional' ? '' : undefined);
  if (tokenizer === undefined) {
    throw new LockstepError('tokenizer-missing', `target ${settings.target} needs the tokenizer of the checkpoint that it serves`, {
      hint: 'Add --tokenizer DIR, a folder with tokenizer.json and tokenizer_config.json.',
    });
  }
  const [first, ...replicas] = replicasOf(settings);
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(cwd, path));
  return {
    target: settings.target,
    grpc: undefined,
    http: undefined,
    metrics: undefined,
    openai: undefined,
    ...first,
    replicas,
    access: accessFiles(settings, cwd),
    checkpoint,
    repository: absolute(settings.repository),
    tokenizer,
    goldens: settings.goldens === undefined ? join(PACKAGE_ROOT, 'goldens') : resolve(cwd, settings.goldens),
    prompts: settings.prompts === undefined ? undefined : resolve(cwd, settings.prompts),
    profile: profileOf(settings.profile).id,
    faults: settings.fault,
    worldSize: settings.worldSize,
    lockGpuClocks: settings.lockGpuClocks,
    triton: settings.triton === undefined || RELEASE.test(settings.triton) ? settings.triton : resolve(cwd, settings.triton),
    docker: settings.target === 'docker' ? toDockerConfig(settings, cwd) : undefined,
    slurm: settings.target === 'slurm' ? toSlurmConfig(settings, cwd) : undefined,
    seed: settings.seed,
    only: settings.only,
    policy: settings.policy ?? (settings.target === 'external' || settings.target === 'openai' ? 'margins' : 'exact'),
    strictIdentity: settings.strictIdentity,
    dangerous: settings.dangerous,
    json: absolute(settings.json),
    junit: absolute(settings.junit),
    html: absolute(htmlFile(settings.report, HTML_FILE)),
  };
}

/** Where the page of a run goes that names no file, in the working directory. */
export const HTML_FILE = 'reports/lockstep.html';

/** What `--report` names: `html` the usual file, `html=FILE` another one. */
export function htmlFile(report: string | undefined, usual: string): string | undefined {
  return report === undefined ? undefined : (/^html=(.+)$/.exec(report)?.[1] ?? usual);
}

/** The settings by which an external target is reached. */
export function accessFiles(settings: Settings, cwd: string): AccessFiles {
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(cwd, path));
  return {
    tlsCa: absolute(settings.tlsCa),
    tlsCert: absolute(settings.tlsCert),
    tlsKey: absolute(settings.tlsKey),
    bearerTokenFile: absolute(settings.bearerTokenFile),
    headers: settings.header,
  };
}

/** For the global set-up: what the command resolved, or, when vitest was started without it, environment and file. */
export async function runConfigFromEnvironment(env: Environment, cwd: string): Promise<RunConfig> {
  const text = env[RUN_VARIABLE];
  if (text !== undefined && text !== '') return JSON.parse(text) as RunConfig;
  return toRunConfig(await resolveSettings({ command: 'check', env, cwd }), cwd);
}

export function toRunVariable(config: RunConfig): string {
  return JSON.stringify(config);
}
