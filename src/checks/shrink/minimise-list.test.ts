import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minimiseList } from './minimise-list.ts';

test('what is needed stays, in its order, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 40 }),
      fc.infiniteStream(fc.boolean()),
      async (items, draws) => {
        const needed = items.filter(() => draws.next().value === true);
        const kept = await minimiseList(items, async (some) => needed.every((one) => some.includes(one)));
        expect(kept).toEqual(needed);
      },
    ),
    { numRuns: 60 },
  );
});

test('where any one of two is enough, one of them is left', async () => {
  const kept = await minimiseList([1, 2, 3, 4, 5, 6, 7, 8], async (some) => some.includes(3) || some.includes(7));
  expect(kept).toHaveLength(1);
  expect([3, 7]).toContain(kept[0]);
});

test('one needed item of many is found in about twice the logarithm of tries', async () => {
  let tries = 0;
  await minimiseList(
    Array.from({ length: 64 }, (_, i) => i),
    async (some) => (tries++, some.includes(40)),
  );
  expect(tries).toBeLessThan(20);
});
