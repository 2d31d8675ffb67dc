import { expect, test } from 'vitest';
import { compareIdentities, switchesOf } from './index.ts';

test('parts that both tell are the same or differ; what one does not tell, nobody knows', () => {
  const a = { triton: '2.51.0', gpu: 'unknown', weights: 'aa', image: 'x' };
  const b = { triton: '2.50.0', gpu: 'H200', weights: 'aa' };
  expect(compareIdentities(a, b)).toEqual({
    same: ['weights'],
    differing: [{ key: 'triton', a: '2.51.0', b: '2.50.0' }],
    untold: ['gpu', 'image'],
  });
});

test('of the environment only the switches that change answers are told', () => {
  expect(switchesOf({ TOKEN: 'secret', NCCL_ALGO: 'Ring', FORCE_DETERMINISTIC: '1', NCCL_PROTO: '' })).toBe(
    'FORCE_DETERMINISTIC=1 NCCL_ALGO=Ring',
  );
  expect(switchesOf({ TOKEN: 'secret' })).toBe('none');
});
