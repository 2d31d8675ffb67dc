import type { Outcome } from '#checks/lab/claim.ts';
import { summarised } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { structural } from '#checks/lab/outcome.ts';
import { replayOf, viewOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import type { KnownGap } from '#checks/laws/index.ts';
import type { Subject } from '#checks/surface/index.ts';
import type { RouteId } from '#core/request/index.ts';

/** Collects what the probes of one claim found, gaps apart from failures. */
export class Findings {
  readonly #lab: Lab;
  readonly #claim: string;
  readonly #failures: Failure[] = [];
  readonly #met = new Map<KnownGap, number>();
  readonly #gone = new Set<KnownGap>();
  readonly #notes: string[] = [];
  #cases = 0;
  #draws = 0;

  constructor(lab: Lab, claim: string) {
    this.#lab = lab;
    this.#claim = claim;
  }

  /** One more case that truly exercised the claim. */
  exercised(): void {
    this.#cases++;
  }

  note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  /** Draws that decided a probe. */
  draws(n: number): void {
    this.#draws += n;
  }

  fail(law: string, code: string, where: string, text: string, route: RouteId, subject?: Subject): void {
    this.#failures.push({
      law,
      code,
      text: `${where} on ${route}: ${text}`,
      ...(subject === undefined ? {} : { case: viewOf({ request: subject.request, route, mode: 'unary', repeat: 0 }) }),
      replay: replayOf(this.#lab, this.#claim, subject?.request),
    });
  }

  /** Nothing exercised a probe; a run that is narrowed to one prompt may say so. */
  vacuous(law: string, where: string, route: RouteId, why: string): void {
    if (this.#lab.parts.only === undefined) this.fail(law, 'not-exercised', where, why, route);
  }

  /** The profile lists the gap: `shows` whether the deviation was there. */
  gap(gap: KnownGap, shows: boolean): void {
    if (shows) this.#met.set(gap, (this.#met.get(gap) ?? 0) + 1);
    else this.#gone.add(gap);
  }

  outcome(unit: string): Outcome {
    const gaps = [...this.#met].map(([{ id, law, thread }, met]) => ({ id, law, thread, met }));
    return {
      ...structural(this.#cases, unit, summarised(this.#failures), {
        notes: [...(this.#draws > 0 ? [`${this.#draws} draws`] : []), ...this.#notes],
        gaps,
        gapsGone: [...this.#gone].filter((gap) => !this.#met.has(gap)).map((gap) => gap.id),
      }),
      k: Math.min(this.#cases, this.#failures.length),
    };
  }
}
