import { type EngineGauges, readGauges } from '#checks/lab/engine-gauges.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';

/** Seldom enough that the reading does not slow the engine down, often enough for an answer of some ten milliseconds. */
const EVERY_MS = 2;

/** The engine as it was at some moment between the two times of `core/clock`. */
export interface Reading {
  readonly askedNs: number;
  readonly readNs: number;
  readonly gauges: EngineGauges;
}

/** Reads the engine's gauges again and again until `work` has ended, in whatever way; nothing where there are no gauges. */
export async function* gaugesWhile(lab: Lab, work: Promise<unknown>): AsyncGenerator<Reading, void, undefined> {
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  for (;;) {
    const askedNs = nowNs();
    const gauges = await Promise.race([readGauges(lab), ended]);
    if (gauges === undefined) return;
    yield { askedNs, readNs: nowNs(), gauges };
    await sleep(EVERY_MS);
  }
}
