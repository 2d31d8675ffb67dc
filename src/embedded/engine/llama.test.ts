import { expect, test } from 'vitest';
import { readCheckpoint } from './checkpoint.ts';
import { createLlamaEngine } from './index.ts';
import { createKvStore } from './kv-store.ts';
import { createLlama } from './llama.ts';
import { answer, CHECKPOINT, EOS, makeRequest, oracleOf } from './testing.ts';

test.each([
  ['tiny', EOS],
  ['tiny-spm', 2],
] as const)('ids and log-probabilities of %s are those of transformers in float64', async (name, endId) => {
  const { checkpoint, cases } = oracleOf(name);
  const engine = createLlamaEngine({ checkpoint, reuse: false });
  expect(cases.length).toBeGreaterThan(50);
  for (const { promptIds, maxTokens, outputIds, endedByEos, logProbs, prompt } of cases) {
    const got = await answer(engine, makeRequest(promptIds, { maxTokens, endId, wantLogProbs: true }));
    expect(got.ids, prompt).toEqual(outputIds);
    expect(got.finish, prompt).toBe(endedByEos ? 'eos' : 'length');
    expect(got.logProbs).toHaveLength(outputIds.length);
    got.logProbs.forEach((value, i) => expect(Math.abs(value - logProbs[i]!), prompt).toBeLessThan(1e-9));
  }
  await engine.close();
});

test('cutting a prompt into calls of 1, 3 or 8 rows, over any blocks, gives bitwise equal logits', () => {
  const checkpoint = readCheckpoint(CHECKPOINT);
  const tokens = Array.from({ length: 75 }, (_, i) => (i * 61) % 512);
  const run = (rowsPerCall: number, blocks: readonly number[]) => {
    const llama = createLlama({
      checkpoint,
      store: createKvStore(checkpoint.config, 16, 16),
      reduction: 'invariant',
      faults: new Set(),
    });
    const table = Int32Array.from(blocks);
    const logits = tokens.map(() => new Float64Array(512));
    const rows = tokens.map((token, position) => ({ token, position, table, batch: 1, index: 0, logits: logits[position] }));
    for (let at = 0; at < rows.length; at += rowsPerCall) llama.forward(rows.slice(at, at + rowsPerCall));
    return logits;
  };
  const whole = run(8, [0, 1, 2, 3, 4]);
  expect(run(1, [9, 3, 15, 0, 7])).toEqual(whole);
  expect(run(3, [4, 3, 2, 1, 0])).toEqual(whole);
});

test('the twin tokens of epsilon 0 have bitwise equal logits, and those of 1e-2 do not', async () => {
  const engine = createLlamaEngine({ checkpoint: CHECKPOINT });
  // Ids of " red"/" blue" and " left"/" right": docker/checkpoint/tiny/behaviour.json, "twins".
  const got = await answer(engine, makeRequest([0, 4, 80, 5], { maxTokens: 4, endId: -1, wantLogits: true }));
  for (const { logits } of got.steps) {
    expect(logits[0]![318]).toBe(logits[0]![320]);
    expect(logits[0]![338]).not.toBe(logits[0]![339]);
  }
  await engine.close();
});
