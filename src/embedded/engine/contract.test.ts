/** What every engine promises its callers, held by both. */
import { describe, expect, test } from 'vitest';
import { createLlamaEngine, createScriptedEngine, type Engine } from './index.ts';
import { answer, CHECKPOINT, EOS, makeRequest, ORACLE, WIDTH_4 } from './testing.ts';

const sample = ORACLE.find((one) => one.endedByEos && one.outputIds.length >= 6)!;
const { promptIds, outputIds } = sample;

const engines: readonly (readonly [string, (maxRequests: number) => Engine])[] = [
  ['llama', (maxRequests) => createLlamaEngine({ checkpoint: CHECKPOINT, maxRequests })],
  ['scripted', (maxRequests) => createScriptedEngine({ maxRequests, script: () => ({ ids: outputIds }) })],
];

const idle = { active: 0, waiting: 0, blocksUsed: 0, scheduled: 0 };

describe.each(engines)('%s', (_, create) => {
  test('EOS ends with a step without ids, and its id is never told', async () => {
    const engine = create(4);
    const got = await answer(engine, makeRequest(promptIds, { maxTokens: 64 }));
    expect(got.ids).toEqual(outputIds);
    expect(got.steps).toHaveLength(outputIds.length + 1);
    expect(got.steps.at(-1)).toMatchObject({ ids: [], logProbs: [], finish: 'eos' });
    expect(got.steps.slice(0, -1).every((step) => step.finish === undefined && step.ids.length === 1)).toBe(true);
    await engine.close();
  });

  test('max_tokens ends on the step of the last id; EOS on the same step wins', async () => {
    const engine = create(4);
    const cut = await answer(engine, makeRequest(promptIds, { maxTokens: outputIds.length }));
    expect(cut.steps.at(-1)).toMatchObject({ ids: [outputIds.at(-1)], finish: 'length' });
    const both = await answer(engine, makeRequest(promptIds, { maxTokens: outputIds.length + 1 }));
    expect(both.steps.at(-1)).toMatchObject({ ids: [], finish: 'eos' });
    await engine.close();
  });

  test('without end_id the answer goes on to max_tokens', async () => {
    const engine = create(4);
    const got = await answer(engine, makeRequest(promptIds, { maxTokens: outputIds.length + 5, endId: -1 }));
    expect(got.ids).toHaveLength(outputIds.length + 5);
    expect(got.finish).toBe('length');
    await engine.close();
  });

  test('stop words are told and end on their last id, also when they begin in the prompt', async () => {
    const engine = create(4);
    const word = outputIds.slice(1, 3);
    const got = await answer(engine, makeRequest(promptIds, { maxTokens: 64, stopWords: [[], [509, 508], word] }));
    expect(got.ids).toEqual(outputIds.slice(0, 3));
    expect(got.steps.at(-1)).toMatchObject({ ids: [outputIds[2]], finish: 'stop-words' });
    const across = await answer(engine, makeRequest(promptIds, { stopWords: [[promptIds.at(-1)!, outputIds[0]!]] }));
    expect(across.ids).toEqual(outputIds.slice(0, 1));
    await engine.close();
  });

  test('min_tokens holds EOS back until that many new ids are there', async () => {
    const engine = create(4);
    const got = await answer(engine, makeRequest(promptIds, { maxTokens: 64, minTokens: outputIds.length + 4 }));
    expect(got.ids.length).toBeGreaterThanOrEqual(outputIds.length + 4);
    expect(got.ids).not.toContain(EOS);
    await engine.close();
  });

  test('prompt and answer together stay within 512; a longer prompt is refused', async () => {
    const engine = create(4);
    const fill = (length: number) => Array.from({ length }, (_, i) => 6 + (i % 500));
    const clipped = await answer(engine, makeRequest(fill(505), { maxTokens: 100, endId: -1 }));
    expect([clipped.ids.length, clipped.finish]).toEqual([7, 'length']);
    const last = await answer(engine, makeRequest(fill(511), { maxTokens: 100, endId: -1 }));
    expect([last.ids.length, last.finish]).toEqual([1, 'length']);
    const refused = await answer(engine, makeRequest(fill(512)));
    expect(refused.steps).toHaveLength(1);
    expect(refused.error).toBe(
      'Prompt length (512) exceeds maximum input length (511). Set log level to info and check TRTGptModel logs for how maximum input length is set',
    );
    expect((await answer(engine, makeRequest([]))).error).toMatch(/must not be empty/);
    expect((await answer(engine, makeRequest([5], { maxTokens: 0 }))).error).toMatch(/must be larger than 0/);
    expect((await answer(engine, makeRequest(promptIds))).error).toBeUndefined();
    await engine.close();
  });

  test('a sink is never called inside submit or cancel, nor after its last step', async () => {
    const engine = create(1);
    let inside = false;
    let called = 0;
    const done = new Promise<void>((resolve) => {
      inside = true;
      const handle = engine.submit(makeRequest(promptIds), ({ finish }) => {
        expect(inside).toBe(false);
        called += 1;
        if (finish !== undefined) resolve();
      });
      handle.cancel();
      handle.cancel();
      inside = false;
    });
    await done;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(called).toBe(1);
    await engine.close();
  });

  test('a cancel while waiting or mid-answer ends with cancelled and frees everything', async () => {
    const engine = create(1);
    const long = makeRequest(promptIds, { maxTokens: 200, endId: -1 });
    const running = answer(engine, long, (_step, handle, at) => void (at === 2 && handle.cancel()));
    const waiting = new Promise((resolve) => {
      const handle = engine.submit(long, (step) => resolve([step.finish, step.ids.length]));
      handle.cancel();
    });
    const after = answer(engine, makeRequest(promptIds, { maxTokens: 64 }));
    expect(await waiting).toEqual(['cancelled', 0]);
    const cut = await running;
    expect([cut.ids.length, cut.finish]).toEqual([3, 'cancelled']);
    expect((await after).ids).toEqual(outputIds);
    await expect.poll(() => engine.stats()).toMatchObject(idle);
    await engine.close();
  });

  test('the queue is first come, first served, and never holds more than the slots', async () => {
    const engine = create(2);
    const finished: number[] = [];
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await answer(engine, makeRequest(promptIds, { maxTokens: 5 }), () => void (most = Math.max(most, engine.stats().active)));
        finished.push(i);
      }),
    );
    expect(finished).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(2);
    await engine.close();
  });

  test('close ends what runs and waits, and refuses what comes later', async () => {
    const engine = create(1);
    const long = makeRequest(promptIds, { maxTokens: 300, endId: -1 });
    let closed: Promise<void> | undefined;
    const closeLater = (_step: unknown, _handle: unknown, at: number) => void (at === 2 && (closed = engine.close()));
    const answers = [answer(engine, long, closeLater), answer(engine, long)];
    for (const { finish } of await Promise.all(answers)) expect(finish).toBe('cancelled');
    await closed;
    expect(engine.stats()).toMatchObject(idle);
    expect((await answer(engine, long)).error).toBe('The engine is shut down');
  });

  test.each([
    { beams: WIDTH_4, told: 4, endId: EOS, maxTokens: 64, finish: 'eos' },
    { beams: WIDTH_4, told: 4, endId: -1, maxTokens: 9, finish: 'length' },
    { beams: { ...WIDTH_4, returned: 2 }, told: 2, endId: -1, maxTokens: 9, finish: 'length' },
    { beams: { ...WIDTH_4, earlyStopping: false, lengthPenalty: 0 }, told: 4, endId: EOS, maxTokens: 5, finish: 'length' },
  ])('every step of a search tells $told whole answers, and its last one why it ended: $finish', async ({ told, finish, ...asked }) => {
    const engine = create(4);
    const { steps, ids } = await answer(engine, makeRequest(promptIds, { ...asked, wantLogProbs: true }));
    expect(ids).toEqual([]);
    expect(steps.map(({ beams }) => beams!.length)).toEqual(steps.map(() => told));
    expect(steps.map((step) => step.finish)).toEqual([...steps.slice(1).map(() => undefined), finish]);
    for (const [i, { beams }] of steps.entries()) {
      const longest = Math.max(...beams!.map((beam) => beam.ids.length));
      expect(longest).toBeLessThanOrEqual(Math.min(i + 1, asked.maxTokens));
      for (const beam of beams!) {
        expect(beam.ids).not.toContain(asked.endId);
        expect(beam.logProbs).toHaveLength(beam.ids.length);
        // EOS counts and is not told.
        expect(beam.cumLogProb).toBeLessThanOrEqual(beam.logProbs.reduce((sum, value) => sum + value, 0) + 1e-12);
      }
    }
    await expect.poll(() => engine.stats()).toMatchObject(idle);
    await engine.close();
  });

  test('a cancelled search ends with the beams that it has, and frees all of them', async () => {
    const engine = create(1);
    const request = makeRequest(promptIds, { maxTokens: 200, endId: -1, beams: WIDTH_4 });
    const got = await answer(engine, request, (_step, handle, at) => void (at === 2 && handle.cancel()));
    expect(got.finish).toBe('cancelled');
    expect(got.steps.at(-1)!.beams!.map((beam) => beam.ids.length)).toEqual([3, 3, 3, 3]);
    await expect.poll(() => engine.stats()).toMatchObject(idle);
    await engine.close();
  });

  test('log-probabilities come one per id, add up, and only when asked for', async () => {
    const engine = create(1);
    const asked = await answer(engine, makeRequest(promptIds, { maxTokens: 64, wantLogProbs: true }));
    expect(asked.logProbs).toHaveLength(asked.ids.length);
    expect(asked.logProbs.every((value) => value < 0)).toBe(true);
    expect(asked.steps.at(-1)!.cumLogProb).toBeCloseTo(
      asked.logProbs.reduce((sum, value) => sum + value, 0),
      12,
    );
    const not = await answer(engine, makeRequest(promptIds, { maxTokens: 64 }));
    expect(not.logProbs).toEqual([]);
    await engine.close();
  });
});
