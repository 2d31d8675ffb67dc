import { resolve } from 'node:path';
import { TINY_CHECKPOINT, type RunConfig } from '#core/config/index.ts';

/** The command that repeats a claim of this run from the same working directory; the caller adds the claim's id. */
export function replayCommand(config: RunConfig): string {
  const external = config.target === 'external';
  const words = ['npx lockstep check'];
  const add = (flag: string, value: string) => words.push(`--${flag} ${quoted(value)}`);
  if (config.target !== 'embedded') add('target', config.target);
  if (config.triton !== undefined) add('triton', config.triton);
  for (const key of ['grpc', 'http', 'metrics', 'openai'] as const) if (config[key] !== undefined) add(key, config[key]);
  if (config.checkpoint !== undefined && config.checkpoint !== TINY_CHECKPOINT) add('checkpoint', config.checkpoint);
  if (config.tokenizer !== config.checkpoint) add('tokenizer', config.tokenizer);
  if (config.goldens !== resolve('goldens')) add('goldens', config.goldens);
  if (config.policy !== (external ? 'margins' : 'exact')) add('policy', config.policy);
  if (config.profile !== 'default') add('profile', config.profile);
  if (config.dangerous) words.push('--dangerous');
  for (const fault of config.faults) add('fault', fault);
  add('seed', String(config.seed));
  return words.join(' ');
}

/** One word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
