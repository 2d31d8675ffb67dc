/** `lockstep identify`: everything of a target that could change an answer, and what differs between two of them. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { resolveSettings, toRunConfig } from '#core/config/index.ts';
import { wallClock } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable, writeFileAtomic } from '#core/files/index.ts';
import { compareIdentities, type Identity, type IdentityComparison, UNKNOWN } from '#core/identity/index.ts';
import { styleFor } from '#report/index.ts';
import { connectReplicas, identityAsLoaded, startTarget } from '#targets/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function identify(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const settings = await resolveSettings({ command: 'identify', flags: flags.layer, env, cwd, signal });
  if (settings.diff) return difference(context);
  if (flags.positionals.length > 0) {
    throw new LockstepError('action-unknown', `identify takes no ${flags.positionals[0]}`, {
      hint: 'To compare two identities write: lockstep identify --diff A B.',
    });
  }
  const config = toRunConfig(settings, cwd, { tokenizer: 'optional' });
  if (config.json !== undefined) assertWritable(config.json);
  await using target = await startTarget(config, { signal });
  const identity = await identityAsLoaded(target, signal);
  const replicas = await Promise.all(
    (await connectReplicas(config, { signal })).map(async (one) => [one, await identityAsLoaded(one, signal)] as const),
  );
  const style = styleFor(process.stdout, env);
  const told = Object.entries(identity).filter(([, value]) => value !== UNKNOWN);
  const width = Math.max(UNKNOWN.length, ...told.map(([key]) => key.length));
  terminal.out(`${style.bold('lockstep')} ${style.dim('identify')} ${style.accent(config.target)}`);
  for (const [key, value] of told) terminal.out(`  ${style.dim(key.padEnd(width))}  ${value}`);
  const untold = Object.keys(identity).filter((key) => identity[key] === UNKNOWN);
  if (untold.length > 0) terminal.out(`  ${style.dim(UNKNOWN.padEnd(width))}  ${untold.join(', ')}`);
  if (config.json !== undefined) {
    writeFileAtomic(config.json, `${JSON.stringify({ schema: 1, at: wallClock(), target: config.target, identity }, null, 2)}\n`);
  }
  let alike = true;
  for (const [{ endpoints }, other] of replicas) {
    const compared = compareIdentities(identity, other);
    terminal.out(`${style.bold('replica')} ${endpoints.grpc === '' ? endpoints.openai : endpoints.grpc}`);
    showDifferences(compared, context);
    alike &&= compared.differing.length === 0;
  }
  return alike ? EXIT.held : EXIT.failed;
}

/** Exit code 1 when a part differs that both tell. */
function difference(context: CommandContext): number {
  const { flags, cwd } = context;
  const [a, b, ...rest] = flags.positionals;
  if (a === undefined || b === undefined || rest.length > 0) {
    throw new LockstepError('setting-missing', `--diff compares two identities; ${flags.positionals.length} are named`, {
      hint: 'Write: lockstep identify --diff A B, each a file of `identify --json` or `check --json`, or a folder of goldens.',
    });
  }
  const compared = compareIdentities(readIdentity(resolve(cwd, a)), readIdentity(resolve(cwd, b)));
  showDifferences(compared, context);
  return compared.differing.length === 0 ? EXIT.held : EXIT.failed;
}

function showDifferences({ same, differing, untold }: IdentityComparison, { env, terminal }: CommandContext): void {
  const style = styleFor(process.stdout, env);
  const width = Math.max(0, ...differing.map(({ key }) => key.length));
  for (const { key, a: one, b: other } of differing)
    terminal.out(`${style.bad('≠')} ${key.padEnd(width)}  ${one}  ${style.dim('→')}  ${other}`);
  if (untold.length > 0) terminal.out(`${style.dim('?')} not told by both: ${untold.join(', ')}`);
  terminal.out(
    `${differing.length} ${differing.length === 1 ? 'part differs' : 'parts differ'}, ${same.length} are the same, ${untold.length} nobody knows`,
  );
}

/** Errors: `identity-unreadable`. */
function readIdentity(path: string): Identity {
  const file = fileOf(path);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new LockstepError('identity-unreadable', `cannot read ${file}: ${(thrown as Error).message}`, { hint: HINT, cause: thrown });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Its message quotes the file, which may be any file.
    throw new LockstepError('identity-unreadable', `${file} is no JSON`, { hint: HINT });
  }
  const found = identityIn(json);
  if (found !== undefined) return found;
  throw new LockstepError('identity-unreadable', `${file} holds no identity`, { hint: HINT });
}

const HINT = 'Name a file of `lockstep identify --json FILE` or `lockstep check --json FILE`, or a folder of goldens.';

/** Of a folder of goldens, or of the one that is in it, its index. */
function fileOf(path: string): string {
  if (!existsSync(path) || !statSync(path).isDirectory()) return path;
  const index = (folder: string) => join(folder, 'index.json');
  if (existsSync(index(path))) return index(path);
  const below = readdirSync(path).filter((name) => existsSync(index(join(path, name))));
  if (below.length === 1) return index(join(path, below[0] as string));
  throw new LockstepError('identity-unreadable', `${path} is no folder of goldens: it has no index.json`, {
    hint: below.length === 0 ? HINT : `Name one of those in it: ${below.join(', ')}.`,
  });
}

const IDENTITY = z.record(z.string(), z.string());
const WRITTEN = z.union([
  z.object({ identity: IDENTITY }),
  z.object({ header: z.object({ identity: IDENTITY }) }),
  z.object({ recordings: z.record(z.string(), z.object({ date: z.string(), identity: IDENTITY })) }),
]);

/** Of an identity by itself, of a run's report, or of the last recording of a folder of goldens. */
function identityIn(json: unknown): Identity | undefined {
  const { data } = WRITTEN.safeParse(json);
  if (data === undefined) return undefined;
  if ('identity' in data) return data.identity;
  if ('header' in data) return data.header.identity;
  return Object.values(data.recordings).toSorted((a, b) => (a.date < b.date ? 1 : -1))[0]?.identity;
}
