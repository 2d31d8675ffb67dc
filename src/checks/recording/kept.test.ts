import { expect, test } from 'vitest';
import { CallRecorder, KeptExchanges } from './index.ts';

function exchange(bytes: number): CallRecorder {
  const recorder = new CallRecorder();
  const tap = recorder.tap();
  tap({ kind: 'request', path: '/', headers: [] });
  tap({ kind: 'message', from: 'server', bytes: Buffer.alloc(bytes) });
  return recorder;
}

test('beyond the limit the oldest exchanges are emptied, and say so', () => {
  const kept = new KeptExchanges(100);
  const recorders = [40, 40, 30, 200, 10].map(exchange);
  for (const recorder of recorders.slice(0, 3)) kept.add(recorder);
  expect(recorders.map(({ dropped }) => dropped)).toEqual([true, false, false, false, false]);
  for (const recorder of recorders.slice(3)) kept.add(recorder);
  expect(recorders.map(({ dropped }) => dropped)).toEqual([true, true, true, true, false]);
  expect(recorders.map(({ calls }) => calls.length)).toEqual([0, 0, 0, 0, 1]);
});
