import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY, PACKAGE_ROOT, type RunConfig, defaultSettings, toRunConfig } from '#core/config/index.ts';
import type { Request } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { EMBEDDED_DEFAULTS, type EmbeddedOptions } from '#embedded/options.ts';
import { type EmbeddedServer, startEmbeddedServer } from '#embedded/server.ts';
import { NO_NOISE } from '#checks/compare/index.ts';
import { type Answer, law } from '#checks/laws/index.ts';
import { rightTranscript } from '#checks/laws/right-transcript.ts';
import { compared } from './compared.ts';
import { forgiven, judged } from './judged.ts';
import { inParallel } from './in-parallel.ts';
import type { Lab } from './lab.ts';
import { makeLab } from './make-lab.ts';
import { lacking } from './outcome.ts';

let server: EmbeddedServer & AsyncDisposable;
const labs: AsyncDisposable[] = [];

beforeAll(async () => {
  server = await serverOf({});
});
afterAll(async () => {
  for (const lab of labs) await lab[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function serverOf(options: Partial<EmbeddedOptions>): Promise<EmbeddedServer & AsyncDisposable> {
  const started = await startEmbeddedServer({ ...EMBEDDED_DEFAULTS, ...options });
  return { ...started, [Symbol.asyncDispose]: () => started.close(0) };
}

/** A copy of the model repository whose raw model knows no generation logits, as an engine built without gathering them. */
function withoutLogits(): { readonly path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-lab-'));
  const path = join(folder, 'models');
  cpSync(MODEL_REPOSITORY, path, { recursive: true });
  symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
  const config = join(path, 'tensorrt_llm', 'config.pbtxt');
  writeFileSync(config, readFileSync(config, 'utf8').replace('name: "return_generation_logits"', 'name: "unused"'));
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

async function labUnder(change: Partial<RunConfig>, of: EmbeddedServer = server): Promise<Lab> {
  const made = await makeLab({
    config: { ...toRunConfig(defaultSettings(), PACKAGE_ROOT), ...change },
    endpoints: of.endpoints,
    identity: {},
    health: async () => ({ alive: true, detail: '' }),
  });
  labs.push(made);
  return made.lab;
}

const REQUEST: Request = {
  id: 'colours-01',
  prompt: { kind: 'text', text: 'red or blue?' },
  sampling: { kind: 'greedy' },
  limits: { maxTokens: 3 },
};

/** Three tokens whose second is this far ahead of the runner-up, and a unary answer that took the runner-up there. */
function flip(lab: Lab, margin: number, route: 'raw' | 'ensemble' = 'raw'): { readonly truth: Answer; readonly transcript: Transcript } {
  const [red, blue, green] = [' red', ' blue', ' green'].map((t) => lab.tokenizer.encode(t, { addSpecialTokens: false })[0]!);
  const answer = (ids: number[]): Answer => ({
    promptIds: lab.tokenizer.encode('red or blue?', { addSpecialTokens: true }),
    ids,
    text: lab.tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish: 'length',
    margins: [5, margin, 5],
    runnerUps: [green!, blue!, green!],
    logProbs: [],
  });
  const c = { request: REQUEST, route, mode: 'unary', repeat: 0 } as const;
  return { truth: answer([red!, red!, red!]), transcript: rightTranscript(c, answer([red!, blue!, red!]), lab.tokenizer, lab.profile) };
}

describe('noise', () => {
  test('is measured once, over positions of its own, whatever the run is narrowed to', async () => {
    const [whole, narrowed] = [await labUnder({}), await labUnder({ only: 'colours-01' })].map((lab) => lab.noise());
    expect(await whole).toEqual(await narrowed);
    expect((await whole!).positions).toBeGreaterThan(100);
  });

  test('of a target that repeats itself is the resolution of float32', async () => {
    const lab = await labUnder({});
    expect((await lab.noise()).e).toBeCloseTo(2e-5, 6);
    expect(lab.noise()).toBe(lab.noise());
    expect((await lab.compareOptions()).noise).toBe(await lab.noise());
  });
});

describe('a flip', () => {
  test.each([
    [1e-6, 'tie'],
    [3e-5, 'near-tie'],
    [0.5, 'unexplained'],
  ])('at a margin of %f is judged %s, by ids and by text', async (margin, verdict) => {
    const lab = await labUnder({});
    for (const route of ['raw', 'ensemble'] as const) {
      const { transcript, truth } = flip(lab, margin, route);
      expect((await lab.judge(transcript, truth)).verdict).toBe(verdict);
    }
  });

  test('that the policy forgives is not held to the truth, and counted', async () => {
    const lab = await labUnder({ policy: 'margins' });
    const near = flip(lab, 3e-5, 'ensemble');
    const far = flip(lab, 0.5, 'ensemble');
    expect(await forgiven(lab, [near, far])).toEqual([{ ...near, truth: undefined }, far]);
    const outcome = await compared(lab, 'any', 'text-is-true-decode', [near], 'answers');
    expect(outcome).toMatchObject({ n: 1, k: 1, failures: [], verdict: 'near-tie' });
  });

  test('is never forgiven under exact', async () => {
    const lab = await labUnder({ policy: 'exact' });
    const near = flip(lab, 3e-5, 'ensemble');
    expect(await forgiven(lab, [near])).toEqual([near]);
    expect((await compared(lab, 'any', 'text-is-true-decode', [near], 'answers')).failures).toHaveLength(1);
  });
});

describe('a law without a case', () => {
  test('fails its claim', async () => {
    const lab = await labUnder({});
    const { transcript } = flip(lab, 1);
    const bare = { ...transcript, margins: new Float64Array(0) };
    const outcome = judged(lab, 'any', [{ transcript: bare }], [law('answers-at-all'), law('greedy-is-argmax')], 'answers');
    expect(outcome.failures.map((f) => f.code)).toEqual(['not-exercised']);
  });

  test('is noted only, where it needs margins and the target serves none', async () => {
    using repository = withoutLogits();
    await using refusing = await serverOf({ repository: repository.path });
    const lab = await labUnder({}, refusing);
    expect(await lab.marginsServed()).toBe(false);
    const { transcript } = flip(lab, 1);
    const bare = { ...transcript, margins: new Float64Array(0) };
    const outcome = judged(lab, 'any', [{ transcript: bare }], [law('answers-at-all'), law('greedy-is-argmax')], 'answers');
    expect([outcome.failures, outcome.notes]).toEqual([[], ['margins not served, so nothing is known about greedy-is-argmax']]);
  });
});

describe('a target that answers nothing', () => {
  test('is no excuse for a law without a case', async () => {
    const gone = await serverOf({});
    const lab = await labUnder({}, gone);
    await gone[Symbol.asyncDispose]();
    expect([await lab.marginsServed(), lab.withoutMargins]).toEqual([false, false]);
    expect(await lab.noise()).toEqual(NO_NOISE);
  });
});

describe('work in parallel', () => {
  test('has ended altogether before its failure is told, and begins nothing new', async () => {
    const ended: number[] = [];
    const work = inParallel([1, 2, 3, 4], 2, async (i) => {
      if (i === 1) throw new Error('first');
      await new Promise((resolve) => setTimeout(resolve, 20));
      ended.push(i);
    });
    await expect(work).rejects.toThrow('first');
    expect(ended).toEqual([2]);
  });
});

/** Upstream's own repository for the LLM API: one model, which has the engine's name. */
function llmApiOnly(): { readonly path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-lab-'));
  const path = join(folder, 'models');
  cpSync(join(MODEL_REPOSITORY, 'llmapi'), join(path, 'tensorrt_llm'), { recursive: true });
  symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
  const config = join(path, 'tensorrt_llm', 'config.pbtxt');
  writeFileSync(config, readFileSync(config, 'utf8').replace('name: "llmapi"', 'name: "tensorrt_llm"'));
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

describe("a repository with the LLM API's model alone", () => {
  test('is known by its inputs, streams, and has no raw route under the name of the engine', async () => {
    using repository = llmApiOnly();
    await using only = await serverOf({ repository: repository.path });
    const lab = await labUnder({}, only);
    expect(lab.parts.models.llmapi).toBe('tensorrt_llm');
    expect(lab.served(['raw', 'ensemble', 'llmapi'])).toEqual(['llmapi']);
    expect(lab.modes).toEqual(['stream', 'unary']);
    expect((await lab.observe(REQUEST, 'llmapi', 'stream')).finishReasons.map((f) => f.reason)).toEqual(['length']);
    const thrown = await lab.truth(REQUEST).catch((error: unknown) => error);
    expect(lacking(thrown)?.notServed).toBe("tensorrt_llm is the LLM API's model here, which shows no ids");
  });
});
