/**
 * Delta debugging: the items without which `fails` no longer holds, in their order. First none at all, then ever smaller
 * parts are left out, until no single item can be. `fails` is known to hold for all of them.
 *
 * Source: Zeller and Hildebrandt, IEEE Transactions on Software Engineering 2002 (ddmin).
 */
export async function minimiseList<T>(items: readonly T[], fails: (kept: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  if (items.length === 0) return items;
  if (await fails([])) return [];
  let kept = items;
  for (let parts = 2; kept.length > 1;) {
    const size = Math.ceil(kept.length / parts);
    let smaller: readonly T[] | undefined;
    for (let from = 0; from < kept.length && smaller === undefined; from += size) {
      const without = kept.toSpliced(from, size);
      if (without.length > 0 && (await fails(without))) smaller = without;
    }
    if (smaller !== undefined) {
      kept = smaller;
      parts = Math.max(2, parts - 1);
    } else if (size === 1) {
      break;
    } else {
      parts = Math.min(kept.length, parts * 2);
    }
  }
  return kept;
}
