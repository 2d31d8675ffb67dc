import { expect, test } from 'vitest';
import { KvCache } from './kv-cache.ts';

const create = (blocks: number, faults: readonly string[] = [], rounded: number[] = []) =>
  new KvCache({ blocks, tokensPerBlock: 4, reuse: true, faults: new Set(faults), roundBlock: (block) => void rounded.push(block) });
const ids = (...values: readonly number[]) => Int32Array.from(values);
const A = ids(1, 2, 3, 4, 5, 6, 7, 8, 9);
const B = ids(9, 9, 9, 9, 5, 6, 7, 8, 9);

test('whole blocks are found again behind the same beginning only', () => {
  const cache = create(8);
  const first = cache.admit(A, 1)!;
  expect([first.reused, cache.blocksFree]).toEqual([0, 5]);
  cache.release(first, A, A.length);
  expect(cache.blocksFree).toBe(8);
  expect(cache.admit(B, 1)!.reused).toBe(0);
  expect(cache.admit(A, 1)!.reused).toBe(2);
  expect(cache.blocksReused).toBe(2);
});

test('the block with the last prompt id is computed again even if it is kept', () => {
  const cache = create(8);
  const prompt = A.subarray(0, 8);
  cache.release(cache.admit(prompt, 1)!, prompt, 8);
  expect(cache.admit(prompt, 1)!.reused).toBe(1);
});

test('running sequences share kept blocks and give them back once', () => {
  const cache = create(8);
  const first = cache.admit(A, 1)!;
  cache.keep(first, A, A.length);
  const second = cache.admit(A, 1)!;
  expect([...second.table.subarray(0, 2)]).toEqual([...first.table.subarray(0, 2)]);
  expect(cache.blocksFree).toBe(4);
  cache.release(first, A, A.length);
  expect(cache.blocksFree).toBe(5);
  cache.release(second, A, A.length);
  expect(cache.blocksFree).toBe(8);
});

test('the least recently released block goes first, and tails before heads', () => {
  const cache = create(4);
  for (const prompt of [A, B]) cache.release(cache.admit(prompt, 1)!, prompt, 8);
  // B needed one block more than was empty: A lost its tail and kept its head.
  expect(cache.admit(A, 1)!.reused).toBe(1);
});

test('admission counts blocks that were promised to others', () => {
  const cache = create(4);
  const first = cache.admit(ids(1, 2), 11)!;
  expect([first.blocks, cache.blocksFree]).toEqual([1, 3]);
  expect(cache.admit(ids(3, 3), 3)).toBeDefined();
  expect(cache.admit(ids(4), 1)).toBeUndefined();
  cache.grow(first, 12);
  cache.release(first, ids(1, 2), 2);
  expect(cache.admit(ids(4), 1)).toBeDefined();
});

test('fault tokens-from-other-prompts: equal ids behind another beginning share a block', () => {
  const cache = create(8, ['tokens-from-other-prompts']);
  cache.release(cache.admit(A, 1)!, A, 8);
  const other = ids(5, 6, 7, 8, 1, 2, 3, 4, 9);
  expect(cache.admit(other, 1)!.reused).toBe(2);
});

test('fault kv-reuse-first-call-differs: blocks are rounded once, when their sequence is done', () => {
  const rounded: number[] = [];
  const cache = create(8, ['kv-reuse-first-call-differs'], rounded);
  const first = cache.admit(A, 1)!;
  cache.keep(first, A, 9);
  expect(rounded).toEqual([]);
  cache.release(first, A, 9);
  cache.release(cache.admit(A, 1)!, A, 9);
  expect(rounded).toEqual([...first.table.subarray(0, 2)]);
});
