/** What `lockstep upgrade` says of answers that differ: an engine built anew, a wrong layer, and a target that serves no margins. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wallClock } from '#core/clock/index.ts';
import { defaultSettings, MODEL_REPOSITORY, PACKAGE_ROOT, type RunConfig, TINY_CHECKPOINT, toRunConfig } from '#core/config/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { judgeUpgrade, readPolicy, recordSide, type Side, type Upgrade } from '#report/upgrade/index.ts';
import { startEmbeddedTarget } from '#targets/embedded/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { rebuilt } from './rebuilt.ts';

/** Every weight by a part in three hundred: about what bfloat16 keeps of a number. */
const REBUILD = 1 / 300;

let folder: string;
let old: Side;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-rebuilt-'));
  old = await record('old', configOf({ target: 'embedded' }));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const configOf = (more: object): RunConfig => toRunConfig({ ...defaultSettings(), ...more }, PACKAGE_ROOT);
const record = (name: string, config: RunConfig): Promise<Side> =>
  recordSide({ name, config, parts: ['answers'], ...(old === undefined ? {} : { old }) });

function judged(now: Side): Upgrade {
  return judgeUpgrade(old, now, { policy: readPolicy(), tokenizer: loadTokenizer(TINY_CHECKPOINT), at: wallClock() });
}

async function withWeights(change: (tensor: string) => number): Promise<Upgrade> {
  using checkpoint = rebuilt(TINY_CHECKPOINT, join(folder, 'checkpoint'), change);
  return judged(await record('new', configOf({ target: 'embedded', checkpoint: checkpoint.path })));
}

const kinds = ({ findings }: Upgrade): readonly string[] => findings.map(({ kind }) => kind).filter((kind) => kind.startsWith('answers'));

test('the same build answers the same', async () => {
  const { answers } = judged(await record('new', configOf({ target: 'embedded' })));
  expect(answers).toMatchObject({ across: { k: 0 }, from: { k: 0 }, to: { k: 0 }, moved: false, forced: { flips: 0 } });
}, 120_000);

test('an engine built anew is explained by margins, at a rate with a bound', async () => {
  const upgrade = await withWeights(() => REBUILD);
  const { answers } = upgrade;
  expect(kinds(upgrade)).toEqual(['answers-explained']);
  expect(upgrade.verdict).toBe('REVIEW');
  expect(answers!.across.k).toBeGreaterThan(0);
  expect(answers!.counts.unexplained + answers!.counts.structural + answers!.counts.contaminated).toBe(0);
  expect(answers!.forced!.unexplained).toBe(0);
  console.log(
    `rebuilt: ${upgrade.findings.find(({ kind }) => kind === 'answers-explained')?.text}; behind them ${answers!.forced!.flips} flips at ${answers!.forced!.positions} positions`,
  );
}, 120_000);

test('a wrong layer is not', async () => {
  const upgrade = await withWeights((tensor) => (/layers\.1\.(self_attn|mlp)/.test(tensor) ? 2 : 0));
  expect(kinds(upgrade)).toEqual(['answers-wrong']);
  expect(upgrade.verdict).toBe('UNSAFE');
  console.log(`wrong layer: ${upgrade.findings.find(({ kind }) => kind === 'answers-wrong')?.text}`);
}, 120_000);

test('without margins nothing is judged', async () => {
  const repository = join(folder, 'served', 'models');
  cpSync(MODEL_REPOSITORY, repository, { recursive: true });
  symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'served', 'checkpoint'));
  const path = join(repository, 'tensorrt_llm', 'config.pbtxt');
  // An engine that was built without gathering logits refuses the request for them.
  writeFileSync(path, readFileSync(path, 'utf8').replace('name: "return_generation_logits"', 'name: "unused"'));
  using checkpoint = rebuilt(TINY_CHECKPOINT, join(folder, 'unjudged'), () => REBUILD);
  await using target = await startEmbeddedTarget({ server: { ...EMBEDDED_DEFAULTS, repository, checkpoint: checkpoint.path } });
  const { grpc, http, metrics } = target.endpoints;
  const upgrade = judged(await record('new', configOf({ target: 'external', grpc, http, metrics, tokenizer: TINY_CHECKPOINT })));
  expect(upgrade.to.answers!.margins).toBe(false);
  expect(upgrade.answers!.across.k).toBeGreaterThan(0);
  expect(kinds(upgrade)).toEqual(['answers-unjudged']);
  expect(upgrade.verdict).toBe('REVIEW');
  console.log(`no margins: ${upgrade.findings.find(({ kind }) => kind === 'answers-unjudged')?.text}`);
}, 120_000);
