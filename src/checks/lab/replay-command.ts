import { resolve } from 'node:path';
import {
  type DockerConfig,
  type RunConfig,
  type SlurmConfig,
  DEFAULT_JOB_DIR,
  TINY_CHECKPOINT,
  shownArguments,
} from '#core/config/index.ts';

/** The command that repeats a claim of this run from the same working directory; the caller adds the claim's id. */
export function replayCommand(config: RunConfig): string {
  const external = config.target === 'external' || config.target === 'openai';
  const words = ['npx lockstep check'];
  const add = (flag: string, value: string) => words.push(`--${flag} ${quoted(value)}`);
  if (config.target !== 'embedded') add('target', config.target);
  if (config.triton !== undefined) add('triton', config.triton);
  if (config.worldSize !== 1) add('world-size', String(config.worldSize));
  if (config.lockGpuClocks !== undefined) add('lock-gpu-clocks', String(config.lockGpuClocks));
  for (const key of ['grpc', 'http', 'metrics', 'openai'] as const) if (config[key]) add(key, config[key]);
  const { tlsCa, tlsCert, tlsKey, bearerTokenFile, headers } = config.access;
  for (const [flag, file] of Object.entries({
    'tls-ca': tlsCa,
    'tls-cert': tlsCert,
    'tls-key': tlsKey,
    'bearer-token-file': bearerTokenFile,
  }))
    if (file !== undefined) add(flag, file);
  // The value is a secret; whoever repeats the command has it.
  for (const line of headers) add('header', `${line.slice(0, line.indexOf(':'))}: …`);
  if (config.checkpoint !== undefined && config.checkpoint !== TINY_CHECKPOINT) add('checkpoint', config.checkpoint);
  if (config.repository !== undefined) add('repository', config.repository);
  if (config.tokenizer !== config.checkpoint) add('tokenizer', config.tokenizer);
  if (config.prompts !== undefined) add('prompts', config.prompts);
  if (config.goldens !== resolve('goldens')) add('goldens', config.goldens);
  if (config.docker !== undefined) addDocker(config.docker, add, words);
  if (config.slurm !== undefined) addSlurm(config.slurm, add);
  if (config.policy !== (external ? 'margins' : 'exact')) add('policy', config.policy);
  if (config.profile !== 'default') add('profile', config.profile);
  if (config.dangerous) words.push('--dangerous');
  for (const fault of config.faults) add('fault', fault);
  add('seed', String(config.seed));
  return words.join(' ');
}

function addDocker(docker: DockerConfig, add: (flag: string, value: string) => void, words: string[]): void {
  const { image, allowFloatingTag, engineDir, gpus, shmSize, ulimits, env, user, network, serverArgs, frontend } = docker;
  for (const [flag, value] of Object.entries({ image, 'engine-dir': engineDir, gpus, user, network }))
    if (value !== undefined) add(flag, value);
  if (allowFloatingTag) words.push('--allow-floating-tag');
  if (shmSize !== '1g') add('shm-size', shmSize);
  for (const one of ulimits) add('ulimit', one);
  addStart(env, serverArgs, add);
  if (frontend !== 'kserve') add('frontend', frontend);
}

function addSlurm(slurm: SlurmConfig, add: (flag: string, value: string) => void): void {
  const { partition, account, timeLimit, gres, nodes, args, jobDir, image, engineDir, env, serverArgs } = slurm;
  for (const [flag, value] of Object.entries({ partition, account, 'time-limit': timeLimit, gres, image, 'engine-dir': engineDir }))
    if (value !== undefined) add(flag, value);
  if (nodes !== 1) add('nodes', String(nodes));
  for (const one of args) add('slurm-arg', one);
  if (jobDir !== DEFAULT_JOB_DIR) add('job-dir', jobDir);
  addStart(env, serverArgs, add);
}

/** Neither the values of an environment nor keys are shown. */
function addStart(env: readonly string[], serverArgs: readonly string[], add: (flag: string, value: string) => void): void {
  for (const one of env) add('env', one.split('=', 1)[0]!);
  for (const one of shownArguments(serverArgs)) add('server-arg', one);
}

/** One word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
