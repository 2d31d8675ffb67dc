import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { claimKey, claimPattern } from './claim-name.ts';
import { JSON_REPORT_SCHEMA } from './json-schema.ts';
import { renderGithub } from './github.ts';
import type { RunData } from './html/index.ts';
import { renderJobSummary } from './job-summary.ts';
import { toJsonReport } from './json.ts';
import type { SampleRun } from './sample-run.ts';
import { runSamples } from './sample-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-report-'));
const json = join(folder, 'report.json');
const junit = join(folder, 'report.xml');
let run: SampleRun;
beforeAll(async () => {
  run = await runSamples({ json, junit, folder });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const claimOf = (id: string) => run.report.claims.map((entry) => entry.claim).find((claim) => claim.id === id);

describe('claim()', () => {
  test('a claim whose cases all hold is held', () => {
    expect(claimOf('repeats')).toMatchObject({ status: 'held', evidence: { n: 240, k: 0 } });
  });

  test('a claim that nothing exercised fails', () => {
    expect(claimOf('vacuum')).toMatchObject({ status: 'failed', failures: [{ code: 'not-exercised' }] });
  });

  test('a claim that throws fails with what was thrown, without frames of the runner', () => {
    expect(claimOf('crash')).toMatchObject({
      status: 'failed',
      failures: [{ code: 'claim-crashed', text: expect.stringMatching(/^Error: socket hang up\n/) }],
    });
    expect(claimOf('crash')?.failures[0]?.text).not.toContain('node_modules');
  });

  test('a claim that does not end in time fails and says how long it took', () => {
    expect(claimOf('slow')).toMatchObject({
      status: 'failed',
      failures: [{ code: 'claim-unfinished', text: expect.stringContaining('150 ms') }],
    });
    expect(claimOf('slow')?.durationMs).toBeGreaterThan(140);
  });

  test('a claim that the target cannot carry is counted apart', () => {
    expect(claimOf('openai-usage')).toMatchObject({ status: 'not-served', evidence: { notes: ['no OpenAI front end'] } });
  });
});

describe('the terminal', () => {
  test('the header says what is under test', () => {
    for (const fact of [
      'against embedded',
      'grpc 127.0.0.1:40001',
      'triton 2.51.0',
      'unknown: gpu, image',
      'profile default',
      'seed 1',
      'stream-drops-token',
    ]) {
      expect(run.text).toContain(fact);
    }
  });

  test('each claim has one line with its evidence', () => {
    expect(run.text).toMatch(
      /✓ determinism +repeats +\d+ ms +240\/240 answers, ≤ 1\.3 % differ \(95 %\) +· the same request gives the same ids again/,
    );
    expect(run.text).toMatch(/✗ agreement +ensemble-equals-raw +\d+ ms +237\/240 answers, breaks same-ids, breaks same-text, 2 near ties/);
    expect(run.text).toMatch(/○ agreement +openai-usage +\d+ ms +not served: no OpenAI front end/);
  });

  test('a failure shows request, place, both sides and replay', () => {
    const block = run.text.slice(run.text.indexOf('✗ agreement/ensemble-equals-raw'), run.text.indexOf('✗ agreement/chat-text'));
    expect(block).toMatch(/case +colours-03 on ensemble, stream, repeat 2/);
    expect(block).toMatch(/raw .*␣green.*margin 0\.312/);
    expect(block).toMatch(/ensemble .*␣gold.*∎.*margin 0\.290/);
    const lines = block.split('\n');
    const caret = lines.find((line) => line.includes('^^^^^^')) ?? '';
    expect(caret.indexOf('^')).toBe(lines.find((line) => line.includes('␣gold   '))?.indexOf('␣gold'));
    expect(block).toMatch(/replay +lockstep check agreement\/ensemble-equals-raw --seed 1/);
    expect(block).toMatch(/also +2 more/);
  });

  test('unit tests are one line per project, their failures in full', () => {
    expect(run.text).toMatch(/✗ unit +1 passed, 1 failed, 1 skipped/);
    expect(run.text).toContain('units.ts  a list keeps its order');
    expect(run.text).toContain('to deeply equal');
  });

  test('identity differences stand above the verdict and gaps are counted on the last line', () => {
    expect(run.text).toMatch(
      /triton +2\.48\.0 → 2\.51\.0[^]*claims: 2 held, 5 failed, 1 not served · known gaps met: 1 · unit tests: 1 passed, 1 failed · \S+ m?s\n$/,
    );
    expect(run.text).toMatch(/models-1\.x-split-characters +whole-characters +12×/);
    expect(run.text).toContain('KNOWN GAPS GONE');
  });

  test('there is no colour off a terminal', () => {
    // oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
    expect(run.text.slice(0, run.text.indexOf('units.ts  a list'))).not.toMatch(/\u001b\[\d/);
  });
});

describe('files', () => {
  test('the JSON report has the published schema', () => {
    const report = JSON_REPORT_SCHEMA.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(report.counts).toEqual({ held: 2, failed: 5, notServed: 1, gapsMet: 1, unitPassed: 1, unitFailed: 1 });
    expect(report.outcome).toBe('failed');
  });

  test('JUnit has one testcase per claim', () => {
    const xml = readFileSync(junit, 'utf8');
    expect(xml.match(/<testcase classname="(determinism|agreement|streaming|lifecycle)"/g)).toHaveLength(8);
    expect(xml).toContain('<failure type="same-ids" message="ids-differ: token 7');
    expect(xml).toContain('<skipped message="not served: no OpenAI front end"/>');
  });

  test('JUnit tells the known gaps that a claim met, and those that are gone', () => {
    const xml = readFileSync(junit, 'utf8');
    const gap = 'models-1.x-split-characters (whole-characters) 12×, triton-inference-server/tensorrtllm_backend#423';
    expect(xml).toContain(`64/64 streams\nknown gap met: ${gap}\nknown gap gone: openai-double-bos</system-out>`);
  });

  test('a run that fails leaves a page, says where above the verdict, and is in the history', () => {
    const page = join(folder, 'lockstep.html');
    expect(run.text.trimEnd().split('\n').slice(-3)).toEqual([`report  ${page}`, '', expect.stringContaining('claims: 2 held, 5 failed')]);
    const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
    const { report, history } = JSON.parse(data) as RunData;
    expect(report).toEqual(JSON.parse(readFileSync(json, 'utf8')));
    expect(history.at(-1)).toMatchObject({ outcome: 'failed', failed: expect.arrayContaining(['lifecycle/crash']) });
  });

  test('the job summary names causes, claims and gaps in Markdown, and nothing in it is markup of its own', () => {
    const hostile = { ...toJsonReport(run.report), errors: ['<img src=x> | `a` \n# no heading'] };
    const lines = renderJobSummary(hostile).split('\n');
    expect(lines[0]).toBe('## Lockstep: 5 of 8 claims failed');
    expect(lines).toContain('| 2 | 5 | 1 | 1 | 1 passed, 1 failed |');
    expect(lines).toContain('  - replay: `lockstep check agreement/ensemble-equals-raw --seed 1`');
    expect(lines).toContain(
      '| models-1.x-split-characters | whole-characters | 12 | triton-inference-server/tensorrtllm\\_backend\\#423 |',
    );
    expect(lines).toContain('- error outside of tests: ``<img src=x> \\| `a` ``');
    expect(lines.filter((line) => line.startsWith('| ✗'))).toHaveLength(5);
  });

  test('annotations are one per failed claim, on one line each', () => {
    const lines = renderGithub(run.report).split('\n');
    expect(lines.filter((line) => line.startsWith('::error file=src/report/samples/claims.ts,title='))).toHaveLength(5);
    expect(lines.every((line) => line.startsWith('::'))).toBe(true);
    expect(lines.at(-1)).toBe('::warning title=the goldens were recorded on another identity::triton: 2.48.0 → 2.51.0');
  });
});

describe('filters', () => {
  test('a filter is a part of a claim key, not of its statement', () => {
    const pattern = claimPattern(['agreement/ens', 'DETERMINISM']);
    expect(pattern.test('agreement/ensemble-equals-raw: ensemble = raw')).toBe(true);
    expect(pattern.test('determinism/repeats: x')).toBe(true);
    expect(pattern.test('streaming/x: agreement/ens is not meant')).toBe(false);
    expect(claimKey('agreement', 'agreement/x')).toBe('agreement/x');
  });

  test('a run in which no claim is served is broken, and says why', async () => {
    const { report, text } = await runSamples({ folder, pattern: claimPattern(['openai-usage']) });
    expect(report.outcome).toBe('broken');
    expect(text).toMatch(/nothing was judged: .*\n +no OpenAI front end +1×\n/);
  }, 60_000);

  test('only the chosen claims run and are reported', async () => {
    const { report } = await runSamples({ folder, pattern: claimPattern(['streaming']) });
    expect(report.claims.map(({ claim }) => claim.id)).toEqual(['streamed-characters']);
    expect(report.outcome).toBe('held');
  }, 60_000);
});

describe('the end line of .ci/run', () => {
  const count = (...texts: readonly string[]) => {
    const files = texts.map((text, at) => join(folder, `run-${at}`));
    for (const [at, file] of files.entries()) writeFileSync(file, texts[at]!);
    const { stdout, status } = spawnSync('bash', ['-c', 'source .ci/stage.sh; stage runs cat "$@"; finish', 'bash', ...files], {
      cwd: PACKAGE_ROOT,
      encoding: 'utf8',
    });
    return { line: stdout.trimEnd().split('\n').at(-1), status };
  };

  test('adds up every run of a stage, and fails for the first as for the last', () => {
    const good = '\u001b[1munit tests: 4 passed · 1 s\u001b[22m\n';
    expect(count(good, good)).toEqual({ line: '8 passed, 0 failed, 0 skipped', status: 0 });
    expect(count(run.text, good)).toEqual({ line: '7 passed, 6 failed, 1 skipped', status: 1 });
  });
});
