import { expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { createScriptedEngine } from './index.ts';
import { answer, makeRequest } from './testing.ts';

const nowMs = () => nowNs() / 1e6;

test('the default answer follows from the prompt and ends by length', async () => {
  const engine = createScriptedEngine();
  const [a, b, c] = await Promise.all(
    [
      [1, 2],
      [1, 2],
      [2, 1],
    ].map((prompt) => answer(engine, makeRequest(prompt, { maxTokens: 30 }))),
  );
  expect(a!.ids).toHaveLength(30);
  expect(a!.finish).toBe('length');
  expect(b!.ids).toEqual(a!.ids);
  expect(c!.ids).not.toEqual(a!.ids);
  expect(a!.ids.every((id) => id >= 6 && id < 512)).toBe(true);
  await engine.close();
});

test('delays come before their steps, the EOS step included', async () => {
  const engine = createScriptedEngine({ script: () => ({ ids: [7, 8], delaysMs: [30, 0, 40] }) });
  const times: number[] = [];
  const start = nowMs();
  await answer(engine, makeRequest([1]), () => void times.push(nowMs() - start));
  expect(times).toHaveLength(3);
  expect(times[0]).toBeGreaterThanOrEqual(29);
  expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(39);
  await engine.close();
});

test('a script can give log-probabilities and refusals', async () => {
  const engine = createScriptedEngine({
    script: ({ id }) => (id === 'bad' ? { ids: [], error: 'no room' } : { ids: [7, 8], logProbs: [-1, -2] }),
  });
  expect((await answer(engine, makeRequest([1], { wantLogProbs: true }))).logProbs).toEqual([-1, -2]);
  expect((await answer(engine, makeRequest([1], { id: 'bad' }))).error).toBe('no room');
  await engine.close();
});
