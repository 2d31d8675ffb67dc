import { sequentialTest } from '#core/stats/index.ts';

/** How often each candidate was tried, and what came of it. */
export interface Tried {
  readonly name: string;
  readonly failed: number;
  readonly trials: number;
  readonly bad: boolean;
}

export interface FirstBad {
  readonly first: string;
  /** The last that is not. */
  readonly before: string;
  /** In the order in which they were asked; the ends are taken at the user's word. */
  readonly tried: readonly Tried[];
}

export interface Candidate extends AsyncDisposable {
  /** Whether the case fails this time. */
  trial(): Promise<boolean>;
}

/** Below the failure rate by this factor a target is good. */
const GOOD_BY = 10;
const ERROR = 0.05;

/**
 * Bisection over targets from a good one to a bad one, oldest first: each step starts one target and halves what is left, so n between
 * the ends take ⌈log2(n + 1)⌉ starts. A case that fails always is tried once on each; one that fails at a rate is repeated until Wald's
 * sequential test tells that rate from a tenth of it, with 5 % for either mistake.
 */
export async function firstBad(
  names: readonly string[],
  open: (index: number) => Promise<Candidate>,
  options: { readonly failureRate: number; readonly told?: (tried: Tried) => void; readonly signal?: AbortSignal | undefined },
): Promise<FirstBad> {
  let [good, bad] = [0, names.length - 1];
  const tried: Tried[] = [];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    options.signal?.throwIfAborted();
    await using candidate = await open(middle);
    const one = { name: names[middle]!, ...(await judge(candidate, options.failureRate, options.signal)) };
    tried.push(one);
    options.told?.(one);
    if (one.bad) bad = middle;
    else good = middle;
  }
  return { first: names[bad]!, before: names[good]!, tried };
}

async function judge(candidate: Candidate, rate: number, signal: AbortSignal | undefined): Promise<Omit<Tried, 'name'>> {
  const design = { low: rate / GOOD_BY, high: rate, error: ERROR };
  let [failed, trials] = [0, 0];
  for (;;) {
    signal?.throwIfAborted();
    if (await candidate.trial()) failed++;
    trials++;
    if (rate >= 1) return { failed, trials, bad: failed > 0 };
    const told = sequentialTest(design, failed, trials);
    if (told !== undefined) return { failed, trials, bad: told === 'high' };
  }
}
