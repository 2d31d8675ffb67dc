import { readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type Fixture, isFixtureFile, readFixture } from '#checks/recording/index.ts';
import { LockstepError } from '#core/errors/index.ts';

export interface NamedFixture {
  /** Of its file, without folders. */
  readonly name: string;
  /** As it is shown: from the folder in which the command runs. */
  readonly shown: string;
  readonly fixture: Fixture;
}

/** The fixtures that are named, and of a folder all that are in it. Errors: `setting-missing`, `fixture-not-found`, and those of reading. */
export async function namedFixtures(words: readonly string[], cwd: string, action: string): Promise<readonly NamedFixture[]> {
  if (words.length === 0) {
    throw new LockstepError('setting-missing', `replay ${action} needs a fixture, or a folder of them`, {
      hint: `Write: lockstep replay ${action} FIXTURE…; \`lockstep record\` makes them.`,
    });
  }
  const paths = words.flatMap((word) => filesOf(resolve(cwd, word)));
  const out: NamedFixture[] = [];
  for (const path of paths) out.push({ name: basename(path), shown: relative(cwd, path), fixture: await readFixture(path) });
  return out;
}

function filesOf(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const names = readdirSync(path).filter(isFixtureFile).toSorted();
  if (names.length > 0) return names.map((name) => join(path, name));
  throw new LockstepError('fixture-not-found', `${path} has no fixture`, {
    hint: 'Fixtures end with .fixture or .fixture.zst; those that end with .part were cut.',
  });
}
