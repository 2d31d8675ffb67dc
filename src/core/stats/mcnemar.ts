/**
 * Two-sided exact P-value of McNemar's test: of the items that changed, as many got worse as better if nothing changed
 * (McNemar, Psychometrika 1947; exact binomial form).
 */
export function mcnemarExact(worse: number, better: number): number {
  const n = worse + better;
  let term = 0.5 ** n;
  let tail = 0;
  for (let i = 0; i <= Math.min(worse, better); i++) {
    tail += term;
    term *= (n - i) / (i + 1);
  }
  return Math.min(1, 2 * tail);
}
