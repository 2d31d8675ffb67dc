import { cpuUsage } from 'node:process';
import { nowNs } from '#core/clock/index.ts';

/** One line of the table. */
export interface Row {
  readonly measure: string;
  /** One value per round. */
  readonly values: readonly number[];
  /** `×`, `tokens/s`, `µs` … */
  readonly unit: string;
  /** Absent: for information. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

/** A spread of fewer says little; more makes the bench slow. */
export const ROUNDS = 7;
/** The optimising compiler has settled after two. */
const WARM_UP_ROUNDS = 2;

/** What one round of one side came to. */
export type Work = () => Promise<number> | number;

/**
 * Runs the sides in turn, A B A B …, so that what else the machine does meets all of them alike. Gives one value per
 * round and side; the warm-up is left out.
 */
export async function alternate<Side extends string>(
  sides: Readonly<Record<Side, Work>>,
  rounds = ROUNDS,
): Promise<Record<Side, number[]>> {
  const names = Object.keys(sides) as Side[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Side, number[]>;
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    // Every other round backwards: nobody always runs after the same neighbour.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await sides[name]();
      if (round >= 0) values[name].push(value);
    }
  }
  return values;
}

/** Round by round: one side as a multiple of the other. */
export function ratios(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, round) => value / (to[round] as number));
}

/** CPU time of this process while `work` runs, all threads, in microseconds. */
export async function ownCpuUs(work: () => unknown): Promise<number> {
  const before = cpuUsage();
  await work();
  const { user, system } = cpuUsage(before);
  return user + system;
}

/** What `work` counts, per second of the clock and per second of CPU time of this process. */
export async function rates(work: () => Promise<number> | number): Promise<{ readonly perSecond: number; readonly perCpuSecond: number }> {
  const startNs = nowNs();
  let count = 0;
  const cpuUs = await ownCpuUs(async () => (count = await work()));
  return { perSecond: (count * 1e9) / (nowNs() - startNs), perCpuSecond: (count * 1e6) / cpuUs };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
