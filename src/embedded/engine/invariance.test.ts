import { expect, test } from 'vitest';
import { rngFrom } from '#core/seed/index.ts';
import { createLlamaEngine } from './index.ts';
import { answer, CHECKPOINT, makeRequest, ORACLE } from './testing.ts';

const key = ({ ids, logProbs, finish }: Awaited<ReturnType<typeof answer>>) => JSON.stringify({ ids, logProbs, finish });
const requests = ORACLE.map(({ promptIds, maxTokens }) => makeRequest(promptIds, { maxTokens, wantLogProbs: true }));

test('answers do not depend on neighbours that come and go', async () => {
  const alone = createLlamaEngine({ checkpoint: CHECKPOINT, reuse: false });
  const expected: string[] = [];
  for (const request of requests) expected.push(key(await answer(alone, request)));
  await alone.close();
  const crowded = createLlamaEngine({ checkpoint: CHECKPOINT, maxRequests: 8 });
  for (const order of [1, 2]) {
    const shuffled = rngFrom(order).shuffle(requests.map((_, i) => i));
    const got = await Promise.all(shuffled.map(async (i) => ({ i, key: key(await answer(crowded, requests[i]!)) })));
    for (const one of got) expect(one.key).toBe(expected[one.i]);
  }
  await crowded.close();
});

test('a warm answer is bitwise the cold one, and the reuse is real', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const long = makeRequest(
    Array.from({ length: 70 }, (_, i) => (i * 61) % 512),
    { maxTokens: 40, endId: -1, wantLogProbs: true },
  );
  const cold = key(await answer(engine, long));
  expect(engine.stats().blocksReused).toBe(0);
  expect(key(await answer(engine, long))).toBe(cold);
  expect(engine.stats().blocksReused).toBe(4);
  await engine.close();
});

test('a prompt that continues an earlier answer reuses the blocks of the answer too', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  const first = makeRequest(
    Array.from({ length: 20 }, (_, i) => i + 30),
    { maxTokens: 30, endId: -1 },
  );
  const { ids } = await answer(engine, first);
  const next = makeRequest([...first.promptIds, ...ids, 40], { maxTokens: 8, endId: -1, wantLogProbs: true });
  const warm = key(await answer(engine, next));
  expect(engine.stats().blocksReused).toBe(3);
  await engine.close();
  const fresh = createLlamaEngine({ checkpoint: CHECKPOINT, reuse: false });
  expect(key(await answer(fresh, next))).toBe(warm);
  await fresh.close();
});

test('eviction under a small cache changes no answer and leaks no block', async () => {
  const small = createLlamaEngine({ checkpoint: CHECKPOINT, blocks: 12, maxRequests: 8 });
  const large = createLlamaEngine({ checkpoint: CHECKPOINT, reuse: false });
  const rng = rngFrom(11);
  const mixed = Array.from({ length: 40 }, () =>
    makeRequest(
      Array.from({ length: rng.int(17, 70) }, (_, i) => (i < 32 ? i : rng.int(6, 511))),
      {
        maxTokens: rng.int(1, 40),
        endId: -1,
        wantLogProbs: true,
      },
    ),
  );
  const got = await Promise.all(mixed.map((request) => answer(small, request)));
  expect(small.stats()).toMatchObject({ blocksUsed: 0, blocksFree: 12, active: 0, waiting: 0 });
  expect(small.stats().blocksReused).toBeGreaterThan(20);
  for (const [i, request] of mixed.entries()) expect(key(got[i]!)).toBe(key(await answer(large, request)));
  await Promise.all([small.close(), large.close()]);
});

test('with reduction batch a lone request repeats exactly, and twins flip among neighbours', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT, reduction: 'batch', reuse: false });
  let flips = 0;
  for (const [i, request] of requests.entries()) {
    if (!ORACLE[i]!.margins.some((margin) => margin < 1e-6)) continue;
    const alone = await answer(engine, request);
    expect(key(await answer(engine, request))).toBe(key(alone));
    for (const other of await Promise.all(Array.from({ length: 4 }, () => answer(engine, request)))) {
      const at = other.ids.findIndex((id, step) => id !== alone.ids[step]);
      if (at < 0) continue;
      flips += 1;
      expect(ORACLE[i]!.margins[at]).toBeLessThan(1e-5);
    }
  }
  expect(flips).toBeGreaterThan(0);
  await engine.close();
});
