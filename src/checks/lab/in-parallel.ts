import { settled } from './settled.ts';

/** Runs `work` over items with at most `limit` at once, results in order; after a failure nothing new is begun. */
export async function inParallel<T, R>(items: readonly T[], limit: number, work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = Array.from({ length: items.length });
  let next = 0;
  const lanes = Array.from({ length: Math.min(limit, items.length) }, async () => {
    try {
      for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T, i);
    } catch (thrown) {
      next = items.length;
      throw thrown;
    }
  });
  await settled(lanes);
  return results;
}
