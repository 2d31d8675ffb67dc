/** The x in [lo, hi] where a rising function crosses zero, to the last bit that a double can tell. */
export function bisect(lo: number, hi: number, rising: (x: number) => number): number {
  let low = lo;
  let high = hi;
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    if (rising(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}
