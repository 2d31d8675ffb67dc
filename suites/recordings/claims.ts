/** A claim for each fixture in goldens/fixtures: what is recorded there is judged again, by the laws as they are now. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { POLICIES } from '#checks/compare/index.ts';
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { judgeRecording, unexpected } from '#checks/lab/recorded.ts';
import { quoted } from '#checks/lab/replay-command.ts';
import { type FixtureHeader, isFixtureFile, openFixture, readFixture } from '#checks/recording/index.ts';
import { runConfigFromEnvironment } from '#core/config/index.ts';

const UNIT = 'recorded answers';

function claimOf(folder: string, goldens: string, file: string, header: FixtureHeader | undefined): Claim {
  const id = file.replace(/\.fixture(\.zst)?$/, '');
  const path = join(folder, file);
  const { violation } = header ?? {};
  return {
    id,
    suite: 'recordings',
    statement:
      violation === undefined
        ? 'What was recorded obeys every law that speaks of it.'
        : `What was recorded breaks ${violation.law}, and the law sees it.`,
    routes: header?.case === undefined ? [] : [header.case.route],
    laws: violation === undefined ? [] : [violation.law],
    // The suite tests itself by what live servers say.
    ordinaryOnly: true,
    async run(lab): Promise<Outcome> {
      const fixture = await readFixture(path);
      const judged = await judgeRecording(fixture, file, {
        goldensDir: goldens,
        policy: POLICIES.exact,
        replay: `npx lockstep replay laws ${quoted(relative(process.cwd(), path))}`,
        signal: lab.signal,
      });
      const n = judged.answers.filter(({ findings }) => findings.length > 0).length;
      return structural(n, UNIT, unexpected(fixture, judged), { notes: header?.note === undefined ? [] : [header.note] });
    },
  };
}

/** One that cannot be opened is a claim that fails, not a suite that does not load. */
async function headerOf(path: string): Promise<FixtureHeader | undefined> {
  try {
    await using fixture = await openFixture(path);
    return fixture.header;
  } catch {
    return undefined;
  }
}

const { goldens } = await runConfigFromEnvironment(process.env, process.cwd());
const folder = join(goldens, 'fixtures');
const files = existsSync(folder) ? readdirSync(folder).filter(isFixtureFile).toSorted() : [];

const none: Claim = {
  id: 'none',
  suite: 'recordings',
  statement: 'Every recording among the goldens is judged again.',
  routes: [],
  laws: [],
  ordinaryOnly: true,
  run: async () => notServed(`there is no fixture in ${folder}`),
};

const recordings: readonly Claim[] = await Promise.all(
  files.map(async (file) => claimOf(folder, goldens, file, await headerOf(join(folder, file)))),
);

export const CLAIMS: readonly Claim[] = recordings.length === 0 ? [none] : recordings;
