/** The contract of neighbouring real releases, held to what was found by hand between them (known-changes.ts). */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractRecord, observeContract } from '#checks/contract/index.ts';
import { defaultSettings, MODEL_REPOSITORY, PACKAGE_ROOT, type RunConfig, toRunConfig } from '#core/config/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { type ContractDiff, contractMarkdown, diffContracts, isShownBy, knownBetween } from '#report/upgrade/index.ts';
import { sameRepository, startTarget } from '#targets/index.ts';

/** Two pairs in every run; all of them, the newest core included, with LOCKSTEP_VERSIONS=all. */
const IN_EVERY_RUN = ['2.41 2.42', '2.46 2.47'];
const ALL = [...IN_EVERY_RUN, '2.48 2.49', '2.36 2.51', '2.51 2.71'];
const PAIRS = (process.env['LOCKSTEP_VERSIONS'] === 'all' ? ALL : IN_EVERY_RUN).map((pair) => pair.split(' ') as [string, string]);
/** Recorded twice from two starts: whatever differs then is noise of the tool. */
const CONTROL = '2.42';
/** Where the tables of the last run lie, with the raw exchanges. */
const FOLDER = join(PACKAGE_ROOT, '.cache/upgrade');

const configOf = (triton: string): RunConfig => toRunConfig({ ...defaultSettings(), target: 'process', triton }, PACKAGE_ROOT);
const RELEASES = [...new Set(PAIRS.flat())];

let folder: string;
let all: string;
const records = new Map<string, ContractRecord>();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-pairs-'));
  all = join(folder, 'models');
  // One repository for all, so that no release is served what another is not.
  cpSync(sameRepository(RELEASES.map(configOf)) ?? MODEL_REPOSITORY, all, { recursive: true });
  cpSync(join(PACKAGE_ROOT, 'docker/contract/models'), all, { recursive: true });
  symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
  for (const release of RELEASES) records.set(release, await record(release));
}, 900_000);

const lines: string[] = [];
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  console.log(lines.join('\n'));
}, 60_000);

/** One server with all models is quicker than two. */
async function record(release: string): Promise<ContractRecord> {
  await using target = await startTarget({ ...configOf(release), repository: all });
  return await observeContract({ endpoints: target.endpoints, owned: true, sharedMemory: true, health: () => target.health() });
}

describe.each(PAIRS)('%s → %s', (from, to) => {
  test('shows every change that was found by hand', () => {
    const diff = diffContracts(records.get(from)!, records.get(to)!, { from, to });
    const changes = diff.differences.flatMap((one) => one.changes);
    const rows = knownBetween(from, to);
    const missed = rows.filter((row) => !changes.some((change) => isShownBy(row, change)));
    const further = diff.differences.filter(({ known }) => known.length === 0);
    lines.push(
      `${from} → ${to}: ${rows.length - missed.length} of ${rows.length} changes by hand found again (recall ${rate(rows.length - missed.length, rows.length)}); ` +
        `${diff.differences.length} differences in ${diff.compared} exchanges, ${diff.differences.length - further.length} of them by hand (precision ${rate(diff.differences.length - further.length, diff.differences.length)}), ${further.length} further with their exchanges`,
      ...further.map(({ kind, title }) => `  further: ${kind}, ${title}`),
    );
    writeFileAtomic(join(FOLDER, `${from}-${to}.md`), contractMarkdown(`${from} → ${to}`, diff));
    expect(missed.map(({ since, what }) => `${since}: ${what}`)).toEqual([]);
    expect(unshown(diff)).toEqual([]);
  });

  test('a change of the opposite kind is not taken for it', () => {
    // The same two, the other way round: what came is gone.
    const diff = diffContracts(records.get(to)!, records.get(from)!);
    expect(diff.differences.length).toBeGreaterThan(0);
    expect(diff.differences.flatMap(({ known }) => known)).toEqual([]);
  });
});

test('the same release, started twice, differs in nothing', async () => {
  const diff = diffContracts(records.get(CONTROL)!, await record(CONTROL));
  lines.push(`${CONTROL} → ${CONTROL}: ${diff.differences.length} differences in ${diff.compared} exchanges`);
  expect(diff.differences.map(({ title, changes }) => `${title}: ${changes[0]!.probe}`)).toEqual([]);
  expect(diff.compared).toBeGreaterThan(300);
}, 120_000);

const rate = (k: number, n: number): string => (n === 0 ? '–' : `${Math.round((100 * k) / n)} %`);

/** Every difference carries the exchanges that show it, and they differ. */
function unshown({ differences }: ContractDiff): readonly string[] {
  return differences.filter(({ exchanges }) => !exchanges.some(({ before, after }) => before !== after)).map(({ title }) => title);
}
