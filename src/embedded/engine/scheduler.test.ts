import { expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { createLlamaEngine } from './index.ts';
import { answer, CHECKPOINT, makeRequest, ORACLE } from './testing.ts';

const filler = (length: number) => Array.from({ length }, (_, i) => 6 + ((i * 7) % 500));
const turn = () => new Promise((resolve) => setImmediate(resolve));
const nowMs = () => nowNs() / 1e6;

test('a cancel during prefill ends with cancelled alone and frees slot and blocks', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const steps: unknown[] = [];
  const done = new Promise<void>((resolve) => {
    const handle = engine.submit(makeRequest(filler(400), { endId: -1 }), (step) => {
      steps.push([step.ids.length, step.finish]);
      if (step.finish !== undefined) resolve();
    });
    void (async () => {
      while (engine.stats().context === 0) await turn();
      await turn();
      expect(engine.stats()).toMatchObject({ active: 1, context: 1, contextTokens: 400, blocksUsed: 25 });
      handle.cancel();
    })();
  });
  await done;
  expect(steps).toEqual([[0, 'cancelled']]);
  expect(engine.stats()).toMatchObject({ active: 0, blocksUsed: 0, blocksFree: 256 });
  await engine.close();
});

test('a request waits until all the blocks it can need are left', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, blocks: 10 });
  let most = 0;
  const work = makeRequest(filler(33), { maxTokens: 80, endId: -1 });
  const watch = () => void (most = Math.max(most, engine.stats().active));
  const got = await Promise.all([1, 2, 3].map(() => answer(engine, work, watch)));
  expect(got.map(({ ids }) => ids.length)).toEqual([80, 80, 80]);
  // 7 blocks each, of which 2 are shared from the second on: 7 + 5 > 10.
  expect(most).toBe(1);
  await engine.close();
});

test('the event loop gets turns while long prompts run', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, reuse: false });
  await answer(engine, makeRequest(filler(400), { maxTokens: 30, endId: -1 }));
  let running = true;
  const gaps: number[] = [];
  const watch = (async () => {
    for (let last = nowMs(); running; last = nowMs()) {
      await turn();
      gaps.push(nowMs() - last);
    }
  })();
  await Promise.all([1, 2, 3, 4].map(() => answer(engine, makeRequest(filler(400), { maxTokens: 30, endId: -1 }))));
  running = false;
  await watch;
  // Four prompts of 400 tokens in calls of eight rows each: a loop that never yields gives a handful of turns.
  expect(gaps.length).toBeGreaterThan(100);
  await engine.close();
});

test('steps take at least stepMs', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, stepMs: 5 });
  const start = nowMs();
  await answer(engine, makeRequest(filler(5), { maxTokens: 10, endId: -1 }));
  const tookMs = nowMs() - start;
  expect(tookMs).toBeGreaterThanOrEqual(45);
  await engine.close();
});

test('bias, bad words and penalties change the choice, and the log-probabilities are those it was made by', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const { promptIds, outputIds } = ORACLE.find((one) => one.outputIds.length >= 6)!;
  const bias = new Float32Array(512);
  bias[77] = 1e4;
  const biased = await answer(engine, makeRequest(promptIds, { maxTokens: 2, embeddingBias: bias, wantLogProbs: true }));
  expect(biased.ids).toEqual([77, 77]);
  expect(biased.logProbs[0]).toBe(0);
  const without = await answer(engine, makeRequest(promptIds, { badWords: [[outputIds[0]!]] }));
  expect(without.ids[0]).not.toBe(outputIds[0]);
  const pair = await answer(engine, makeRequest(promptIds, { badWords: [outputIds.slice(1, 3)] }));
  expect(pair.ids.slice(0, 2)).toEqual(outputIds.slice(0, 2));
  expect(pair.ids[2]).not.toBe(outputIds[2]);
  const penalized = await answer(engine, makeRequest(promptIds, { maxTokens: 64, endId: -1, sampling: { frequencyPenalty: 100 } }));
  // Prompt tokens count as well: nothing that was there comes again.
  expect(new Set([...promptIds, ...penalized.ids]).size).toBe(new Set(promptIds).size + penalized.ids.length);
  await engine.close();
});

test('seeded sampling repeats alone and among neighbours; other seeds give other answers', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, maxRequests: 8 });
  const ask = (seed: bigint) =>
    answer(engine, makeRequest([0, 4, 80, 81, 5], { maxTokens: 20, endId: -1, sampling: { topK: 50, temperature: 2, seed } }));
  const seeds = Array.from({ length: 8 }, (_, i) => BigInt(i) * 12345678901234567n);
  const alone: string[] = [];
  for (const seed of seeds) alone.push(String((await ask(seed)).ids));
  expect(new Set(alone).size).toBe(8);
  const together = await Promise.all(seeds.map(async (seed) => String((await ask(seed)).ids)));
  expect(together).toEqual(alone);
  await engine.close();
});

test('ids outside the vocabulary are computed as zeros, not read from elsewhere', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const got = await answer(engine, makeRequest([0, -1, 512, 99999, 5], { maxTokens: 3, endId: -1, wantLogProbs: true }));
  expect(got.logProbs.every(Number.isFinite)).toBe(true);
  await engine.close();
});
