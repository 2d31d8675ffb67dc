/** `lockstep identify`: everything of a target that could change an answer, and what differs between two of them. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { resolveSettings, toRunConfig } from '#core/config/index.ts';
import { wallClock } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable, writeFileAtomic } from '#core/files/index.ts';
import { compareIdentities, type Identity, UNKNOWN } from '#core/identity/index.ts';
import { styleFor } from '#report/index.ts';
import { identityAsLoaded, startTarget } from '#targets/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function identify(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const settings = await resolveSettings({ command: 'identify', flags: flags.layer, env, cwd });
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
  const told = Object.entries(identity).filter(([, value]) => value !== UNKNOWN);
  const width = Math.max(...told.map(([key]) => key.length));
  const style = styleFor(process.stdout, env);
  terminal.out(`${style.bold('lockstep')} ${style.dim('identify')} ${style.accent(config.target)}`);
  for (const [key, value] of told) terminal.out(`  ${style.dim(key.padEnd(width))}  ${value}`);
  const untold = Object.keys(identity).filter((key) => identity[key] === UNKNOWN);
  if (untold.length > 0) terminal.out(`  ${style.dim('unknown'.padEnd(width))}  ${untold.join(', ')}`);
  if (config.json !== undefined) {
    writeFileAtomic(config.json, `${JSON.stringify({ schema: 1, at: wallClock(), target: config.target, identity }, null, 2)}\n`);
  }
  return EXIT.held;
}

/** Exit code 1 when a part differs that both tell. */
function difference({ flags, cwd, env, terminal }: CommandContext): number {
  const [a, b, ...rest] = flags.positionals;
  if (a === undefined || b === undefined || rest.length > 0) {
    throw new LockstepError('setting-missing', `--diff compares two identities; ${flags.positionals.length} are named`, {
      hint: 'Write: lockstep identify --diff A B, each a file of `identify --json` or `check --json`, or a folder of goldens.',
    });
  }
  const { same, differing, untold } = compareIdentities(readIdentity(resolve(cwd, a)), readIdentity(resolve(cwd, b)));
  const style = styleFor(process.stdout, env);
  const width = Math.max(0, ...differing.map(({ key }) => key.length));
  for (const { key, a: one, b: other } of differing)
    terminal.out(`${style.bad('≠')} ${key.padEnd(width)}  ${one}  ${style.dim('→')}  ${other}`);
  if (untold.length > 0) terminal.out(`${style.dim('?')} not told by both: ${untold.join(', ')}`);
  terminal.out(
    `${differing.length} ${differing.length === 1 ? 'part differs' : 'parts differ'}, ${same.length} are the same, ${untold.length} nobody knows`,
  );
  return differing.length === 0 ? EXIT.held : EXIT.failed;
}

/** Errors: `identity-unreadable`. */
function readIdentity(path: string): Identity {
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.json') : path;
  try {
    const found = identityIn(JSON.parse(readFileSync(file, 'utf8')));
    if (found !== undefined) return found;
  } catch (thrown) {
    throw new LockstepError('identity-unreadable', `cannot read ${file}: ${(thrown as Error).message}`, { hint: HINT, cause: thrown });
  }
  throw new LockstepError('identity-unreadable', `${file} holds no identity`, { hint: HINT });
}

const HINT = 'Name a file of `lockstep identify --json FILE` or `lockstep check --json FILE`, or a folder of goldens.';

/** Of a run's report, of an identity by itself, or of the last recording of a folder of goldens. */
function identityIn(json: unknown): Identity | undefined {
  const { identity, header, recordings } = (json ?? {}) as {
    readonly identity?: Identity;
    readonly header?: { readonly identity?: Identity };
    readonly recordings?: Readonly<Record<string, { readonly date?: string; readonly identity?: Identity }>>;
  };
  const last = Object.values(recordings ?? {}).toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? 1 : -1))[0];
  const found = identity ?? header?.identity ?? last?.identity;
  return found !== undefined && Object.values(found).every((value) => typeof value === 'string') ? found : undefined;
}
