/** Beam search with the real forward pass: what the lines compute is what the ids say. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { penalized } from './beam-search.ts';
import { createLlamaEngine } from './index.ts';
import { logSumExp } from './shaper.ts';
import { answer, CHECKPOINT, makeRequest, ORACLE, WIDTH_4 } from './testing.ts';
import type { BeamState, EngineBeams, EngineRequest } from './types.ts';

async function beamsOf(engine: ReturnType<typeof createLlamaEngine>, request: EngineRequest): Promise<readonly BeamState[]> {
  const { steps, error } = await answer(engine, request);
  expect(error).toBeUndefined();
  return steps.at(-1)!.beams!;
}

/** Log-probability of each id of `ids` behind the prompt, in one pass over both: nothing of the search takes part. */
async function rescored(
  engine: ReturnType<typeof createLlamaEngine>,
  prompt: readonly number[],
  ids: readonly number[],
): Promise<number[]> {
  const all = [...prompt, ...ids];
  const { steps } = await answer(engine, makeRequest(all, { maxTokens: 1, endId: -1, wantContextLogits: true }));
  const logits = steps[0]!.contextLogits!;
  expect(logits).toHaveLength(all.length * engine.vocabSize);
  return ids.map((id, i) => {
    const at = (prompt.length + i - 1) * engine.vocabSize;
    const row = Float64Array.from(logits.subarray(at, at + engine.vocabSize));
    return row[id]! - logSumExp(row);
  });
}

test.each([
  ['reuse', true],
  ['no reuse', false],
])('with %s, every beam is worth what its ids are worth when computed alone', async (_, reuse) => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, reuse });
  let checked = 0;
  for (const { promptIds } of ORACLE.filter((one) => one.outputIds.length >= 6).slice(0, 2)) {
    const beams = await beamsOf(engine, makeRequest(promptIds, { maxTokens: 16, endId: -1, beams: WIDTH_4 }));
    expect(new Set(beams.map(({ ids }) => ids.join())).size).toBe(4);
    expect(beams.map(({ cumLogProb }) => cumLogProb)).toEqual(beams.map(({ cumLogProb }) => cumLogProb).toSorted((a, b) => b - a));
    for (const { ids, logProbs, cumLogProb } of beams) {
      const truth = await rescored(engine, promptIds, ids);
      // The rows are float32: half a step below 2^5 for each of the numbers in a log-probability.
      truth.forEach((value, i) => expect(logProbs[i]).toBeCloseTo(value, 4));
      expect(cumLogProb).toBeCloseTo(
        logProbs.reduce((a, b) => a + b, 0),
        10,
      );
      checked += ids.length;
    }
  }
  expect(checked).toBe(2 * 4 * 16);
  expect(engine.stats()).toMatchObject({ active: 0, blocksUsed: 0 });
  await engine.close();
});

test('one beam of a search is the greedy answer, and four are never worse', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  for (const { promptIds, outputIds } of ORACLE.filter((one) => one.endedByEos).slice(0, 3)) {
    const request = makeRequest(promptIds, { maxTokens: 64, beams: { ...WIDTH_4, width: 1, returned: 1, lengthPenalty: 0 } });
    const [greedy] = await beamsOf(engine, request);
    expect(greedy!.ids).toEqual(outputIds);
  }
  await engine.close();
});

test('beams of one request are the same among neighbours and with blocks of any size', async () => {
  const { promptIds } = ORACLE.find((one) => one.outputIds.length >= 6)!;
  const request = makeRequest(promptIds, { maxTokens: 24, beams: WIDTH_4 });
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const small = createLlamaEngine({ checkpoint: CHECKPOINT, tokensPerBlock: 4, blocks: 1024, reuse: false });
  const ids = (beams: readonly BeamState[]) => beams.map((beam) => beam.ids.join());
  const alone = ids(await beamsOf(engine, request));
  const amid = await Promise.all(
    [request, makeRequest(promptIds, { maxTokens: 40, endId: -1 }), request, makeRequest([0, 4, 80, 5], { beams: WIDTH_4 })].map((r) =>
      answer(engine, r),
    ),
  );
  expect(ids(amid[0]!.steps.at(-1)!.beams!)).toEqual(alone);
  expect(ids(amid[2]!.steps.at(-1)!.beams!)).toEqual(alone);
  expect(ids(await beamsOf(small, request))).toEqual(alone);
  await Promise.all([engine.close(), small.close()]);
});

test('beams share what the prompt fills, and beams that can never fit are refused', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, blocks: 12 });
  const prompt = Array.from({ length: 64 }, (_, i) => 6 + i);
  const { steps } = await answer(engine, makeRequest(prompt, { maxTokens: 33, endId: -1, beams: WIDTH_4, wantPerf: true }));
  // Four blocks of prompt in common and two blocks of answer for each of four beams.
  expect(steps.at(-1)!.perf).toMatchObject({ blocks: 12, blocksReused: 0 });
  const refused = await answer(engine, makeRequest(prompt, { maxTokens: 34, endId: -1, beams: WIDTH_4 }));
  expect(refused.error).toBe('4 beams need 16 cache blocks, there are 12');
  expect((await answer(engine, makeRequest(prompt, { maxTokens: 34, endId: -1 }))).error).toBeUndefined();
  await engine.close();
});

test('what a search leaves in the cache serves nobody wrongly', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const clean = createLlamaEngine({ checkpoint: CHECKPOINT, reuse: false });
  const prompt = Array.from({ length: 16 }, (_, i) => 40 + 3 * i);
  const beams = await beamsOf(engine, makeRequest(prompt, { maxTokens: 50, endId: -1, beams: WIDTH_4 }));
  // Behind the same prompt, and as prompts of their own.
  for (const ids of beams.flatMap((beam) => [[...prompt, ...beam.ids.slice(0, 40)], beam.ids.slice(0, 40)])) {
    const request = makeRequest(ids, { maxTokens: 2, endId: -1, wantLogProbs: true });
    const [first, right] = [await answer(engine, request), await answer(clean, request)];
    expect([first.ids, first.logProbs]).toEqual([right.ids, right.logProbs]);
  }
  expect(engine.stats().blocksReused).toBeGreaterThan(0);
  await Promise.all([engine.close(), clean.close()]);
});

test('penalties, bias, bad words and min_tokens hold for every beam by its own ids', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const { promptIds, outputIds } = ORACLE.find((one) => one.endedByEos && one.outputIds.length >= 6)!;
  const sampling = { frequencyPenalty: 100 };
  for (const { ids } of await beamsOf(engine, makeRequest(promptIds, { maxTokens: 20, endId: -1, sampling, beams: WIDTH_4 }))) {
    expect(new Set([...promptIds, ...ids]).size).toBe(new Set(promptIds).size + ids.length);
  }
  const banned = outputIds[0]!;
  for (const { ids } of await beamsOf(engine, makeRequest(promptIds, { badWords: [[banned]], beams: WIDTH_4 }))) {
    expect(ids).not.toContain(banned);
  }
  const least = outputIds.length + 4;
  for (const { ids } of await beamsOf(engine, makeRequest(promptIds, { maxTokens: 64, minTokens: least, beams: WIDTH_4 }))) {
    expect(ids.length).toBeGreaterThanOrEqual(least);
  }
  await engine.close();
});

test('context and generation logits meet: the row after the prompt is the one that the first id is drawn from', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const { promptIds } = ORACLE.find((one) => one.promptIds.length >= 20)!;
  // A second time the prompt is in the cache, and is computed all the same.
  for (let i = 0; i < 2; i++) {
    const { steps } = await answer(engine, makeRequest(promptIds, { maxTokens: 3, wantContextLogits: true, wantLogits: true }));
    const rows = steps[0]!.contextLogits!;
    expect([...rows.subarray((promptIds.length - 1) * 512)]).toEqual([...steps[0]!.logits[0]!]);
    expect(rows.every(Number.isFinite)).toBe(true);
    expect(steps.slice(1).every((step) => step.contextLogits === undefined)).toBe(true);
  }
  await engine.close();
});

test('what a request cost is told in order, its last token at the end only', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const prompt = Array.from({ length: 40 }, (_, i) => 6 + i);
  const ask = () => answer(engine, makeRequest(prompt, { maxTokens: 4, endId: -1, wantPerf: true }));
  const [cold, warm] = [await ask(), await ask()];
  for (const { steps } of [cold, warm]) {
    const last = steps.at(-1)!.perf!;
    const times = [last.arrivedNs, last.scheduledNs, last.firstTokenNs, last.lastTokenNs];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
    expect(steps.slice(0, -1).map((step) => step.perf!.lastTokenNs)).toEqual([0, 0, 0]);
  }
  expect(cold.steps.at(-1)!.perf).toMatchObject({ blocks: 3, blocksReused: 0 });
  expect(warm.steps.at(-1)!.perf).toMatchObject({ blocks: 3, blocksReused: 2 });
  await engine.close();
});

/** A case of docker/checkpoint/oracle/tiny/beams.json: transformers' own search, in float64. */
interface BeamOracle {
  readonly promptIds: readonly number[];
  readonly beamWidth: number;
  readonly lengthPenalty: number;
  readonly earlyStopping: boolean;
  readonly beams: readonly (readonly number[])[];
  readonly scores: readonly number[];
  readonly endedByEos: readonly boolean[];
}

const HUGGING_FACE = JSON.parse(readFileSync(`${CHECKPOINT}/../oracle/tiny/beams.json`, 'utf8')) as {
  readonly maxTokens: number;
  readonly cases: readonly BeamOracle[];
};

/** A sixth of the cases, of every setting; all of them with `npm run test:processes`. */
const COMPARED = HUGGING_FACE.cases.filter((_, i) => i % 6 === 0 || process.env['LOCKSTEP_REAL'] === '1');

test('beams and their scores are those of Hugging Face', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  for (const { promptIds, beamWidth: width, lengthPenalty, earlyStopping, ...truth } of COMPARED) {
    const beams: EngineBeams = { width, returned: width, lengthPenalty, earlyStopping, diversityRate: 0 };
    const found = await beamsOf(engine, makeRequest(promptIds, { maxTokens: HUGGING_FACE.maxTokens, beams }));
    expect(found.map(({ ids }) => ids)).toEqual(truth.beams);
    found.forEach(({ ids, cumLogProb }, b) => {
      const length = ids.length + (truth.endedByEos[b]! ? 1 : 0);
      expect(penalized(cumLogProb, length, lengthPenalty)).toBeCloseTo(truth.scores[b]!, 9);
    });
  }
  expect(new Set(COMPARED.map((c) => `${c.beamWidth} ${c.lengthPenalty} ${c.earlyStopping}`)).size).toBe(6);
  await engine.close();
});
