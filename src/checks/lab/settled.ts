/**
 * All of the values, or the first rejection in their order, but not before everything has ended: what still runs when a
 * claim throws would disturb the next claim, and its own rejection would belong to nobody.
 */
export async function settled<T extends readonly unknown[]>(promises: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(promises);
  const values = results.map((r) => {
    if (r.status === 'rejected') throw r.reason;
    return r.value;
  });
  return values as { -readonly [K in keyof T]: Awaited<T[K]> };
}
