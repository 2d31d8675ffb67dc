/** `lockstep replay import`: requests of other tools as fixtures that can be sent. */
import { readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { importRequests } from '#checks/recording/import/index.ts';
import { fixtureFileName, writeFixture } from '#checks/recording/index.ts';
import { resolveSettings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { makeFolders } from '#core/files/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printable } from './printable.ts';

/** Input files of load generators have some megabytes. */
const LARGEST_BYTES = 256 * 1024 * 1024;

export async function importFiles({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'replay', flags: flags.layer, env, cwd, signal });
  if (flags.positionals.length === 0 || settings.output === undefined) {
    throw new LockstepError('setting-missing', `replay import needs ${flags.positionals.length === 0 ? 'a file' : '--output DIR'}`, {
      hint: 'Write: lockstep replay import FILE… --output DIR.',
    });
  }
  const folder = resolve(cwd, settings.output);
  makeFolders(folder);
  for (const file of flags.positionals) {
    const all = requestsIn(resolve(cwd, file), file);
    const stem = basename(file).replace(/\.[^.]*$/, '');
    for (const [i, fixture] of all.entries()) {
      const name = fixtureFileName(stem, ...(all.length === 1 ? [] : [String(i + 1).padStart(4, '0')]));
      writeFixture(join(folder, name), fixture);
      const [request] = fixture.events;
      terminal.out(
        printable(
          `${relative(cwd, join(folder, name))}  ${request?.kind === 'request' ? `${request.method ?? 'gRPC'} ${request.path}` : ''}`,
        ),
      );
    }
  }
  terminal.out(`send them with: lockstep replay send ${relative(cwd, folder) || '.'}`);
  return EXIT.held;
}

function requestsIn(path: string, shown: string) {
  let text: string;
  try {
    if (statSync(path).size > LARGEST_BYTES) throw new TypeError(`it has more than ${LARGEST_BYTES / 1024 ** 2} MB`);
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new LockstepError('import-unreadable', `cannot read ${shown}: ${(thrown as Error).message}`, {
      hint: 'Name a file with requests.',
      cause: thrown,
    });
  }
  try {
    return importRequests(text);
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    throw new LockstepError(error.code, `${shown}: ${error.message.replace(/^\[[\w-]+\] /, '')}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: thrown,
    });
  }
}
