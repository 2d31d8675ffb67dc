/**
 * Waits for all of them, however they end, and only then throws what the first broken one threw: no request is left to
 * run on into the next case, and no rejection is left without a listener.
 */
export async function together<T extends readonly unknown[]>(work: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
