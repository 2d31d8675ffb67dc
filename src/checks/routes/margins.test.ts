import { expect, test } from 'vitest';
import { fp32Tensor, type Tensor } from '#wire/protocol/tensors.ts';
import { margins } from './margins.ts';

test('each row gives its winner, its lead and its runner-up, the lowest id first on equal logits', () => {
  const logits = fp32Tensor('generation_logits', [1, 1, 4, 3], [1, 3.5, 2, 2, 2, 2, -1, -5, -1, -Infinity, -Infinity, -Infinity]);
  expect(margins(logits)).toEqual([
    { margin: 1.5, winner: 1, runnerUp: 2 },
    { margin: 0, winner: 0, runnerUp: 1 },
    { margin: 0, winner: 0, runnerUp: 2 },
    { margin: Number.NaN, winner: 0, runnerUp: 1 },
  ]);
});

test('half floats of both kinds are read', () => {
  const half = (datatype: 'FP16' | 'BF16', bits: number[]): Tensor => ({
    name: 'generation_logits',
    datatype,
    shape: [1, 1, 1, 3],
    data: new Uint8Array(Uint16Array.from(bits).buffer),
  });
  // 1.5, -2, 2^-24 and 1.5, -2, 0.5
  expect(margins(half('FP16', [0x3e00, 0xc000, 0x0001]))).toEqual([{ margin: 1.5 - 2 ** -24, winner: 0, runnerUp: 2 }]);
  expect(margins(half('BF16', [0x3fc0, 0xc000, 0x3f00]))).toEqual([{ margin: 1, winner: 0, runnerUp: 2 }]);
});

test('a shape that does not fit its bytes is malformed', () => {
  expect(() => margins(fp32Tensor('generation_logits', [1, 1, 2, 3], [1, 2, 3]))).toThrow('[tensor-malformed]');
});
