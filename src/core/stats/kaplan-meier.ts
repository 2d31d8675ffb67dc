/** One sequence: how many tokens of it were equal, and whether it parted there or ended (or was not followed any further). */
export interface Followed {
  readonly tokens: number;
  readonly parted: boolean;
}

export interface SurvivalStep {
  /** The token (counted from 1) at which sequences parted. */
  readonly token: number;
  /** Share still equal after it, with its 95 % interval. */
  readonly equal: number;
  readonly low: number;
  readonly high: number;
  /** Sequences that were compared at this token. */
  readonly atRisk: number;
  readonly parted: number;
}

/** Φ⁻¹(0.975). */
const Z = 1.959963984540054;

/**
 * "Still equal at token t", by Kaplan and Meier (JASA 1958): at each token the share of those compared there that did not
 * part is multiplied on. A sequence that parts after t equal tokens parts at token t + 1; one that ends after t tokens was
 * compared at token t and not after it. The interval is Greenwood's on the scale log(−log S), as R's survfit gives it with
 * conf.type = "log-log". Steps stand where sequences parted only.
 */
export function kaplanMeier(sequences: readonly Followed[]): readonly SurvivalStep[] {
  const partedAt = new Map<number, number>();
  for (const { tokens, parted } of sequences) if (parted) partedAt.set(tokens + 1, (partedAt.get(tokens + 1) ?? 0) + 1);
  const lengths = sequences.map(({ tokens, parted }) => (parted ? tokens + 1 : tokens)).sort((a, b) => a - b);
  const steps: SurvivalStep[] = [];
  let equal = 1;
  let variance = 0;
  let gone = 0;
  for (const [token, parted] of [...partedAt].sort(([a], [b]) => a - b)) {
    while (gone < lengths.length && (lengths[gone] as number) < token) gone++;
    const atRisk = lengths.length - gone;
    equal *= 1 - parted / atRisk;
    variance += parted / (atRisk * (atRisk - parted));
    steps.push({ token, equal, ...interval(equal, variance), atRisk, parted });
  }
  return steps;
}

function interval(equal: number, variance: number): { readonly low: number; readonly high: number } {
  if (equal <= 0) return { low: 0, high: 0 };
  const width = (Z * Math.sqrt(variance)) / Math.log(equal);
  return { low: equal ** Math.exp(-width), high: equal ** Math.exp(width) };
}
