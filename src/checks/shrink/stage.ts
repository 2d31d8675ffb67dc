import { Lab } from '#checks/lab/lab.ts';
import type { LabParts } from '#checks/lab/parts.ts';
import type { Answer } from '#checks/laws/index.ts';
import type { RunOptions } from '#checks/routes/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Case, Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { type Ground, tryCase } from './try-case.ts';
import type { FailingCase, Sighting } from './types.ts';

/** A server on which cases are tried. */
export interface Bench {
  readonly lab: Lab;
  /** Another one, started anew, in its place; undefined where this run may not start servers. */
  readonly renew: (() => Promise<Lab>) | undefined;
}

/** Laws whose every try needs a server that nothing was asked before. */
const NEED_NEW: readonly string[] = ['cold-equals-warm', 'server-survives'];

/** Where cases are tried: counts the requests, and starts the server anew where what was asked before would matter. */
export class Stage implements Ground {
  readonly budget: number;
  /** The part of the budget that may be spent now: some of it is kept to try the smallest case again. */
  limit: number;
  /** Every try gets a server that nothing was asked before: what others asked has a part in the failure. */
  alwaysNew = false;
  readonly #bench: Bench;
  readonly #signal: AbortSignal;
  readonly #truths = new Map<string, Promise<Answer>>();
  readonly #keep: string;
  #lab: CountedLab;
  #spent = 0;
  /** Something was asked of the server that runs now. */
  #used = false;
  /** It died, or an exchange with it never ended. */
  #broken = false;

  /** @param keep folder in whose name exchanges are kept with their transcripts */
  constructor(bench: Bench, { budget, signal, keep }: { readonly budget: number; readonly signal: AbortSignal; readonly keep: string }) {
    this.#bench = bench;
    this.budget = budget;
    this.limit = budget;
    this.#signal = signal;
    this.#keep = keep;
    this.#lab = this.#counted(bench.lab);
  }

  get lab(): Lab {
    return this.#lab;
  }

  get spent(): number {
    return this.#spent;
  }

  get interrupted(): boolean {
    return this.#signal.aborted;
  }

  get renewable(): boolean {
    return this.#bench.renew !== undefined;
  }

  truth(request: Request, route: RouteId): Promise<Answer> {
    const key = canonicalJson([request.prompt, request.sampling, request.limits, route]);
    let truth = this.#truths.get(key);
    if (truth === undefined) {
      truth = this.#lab.truthOn(request, route);
      this.#truths.set(key, truth);
      // What is asked for in vain is asked for again.
      truth.catch(() => this.#truths.delete(key));
    }
    return truth;
  }

  /** One try, on a new server where the case needs one. Errors: as `tryCase`; `case-needs-new-server`. */
  async try(failing: FailingCase): Promise<Sighting | undefined> {
    const { law, code } = failing.violation;
    const remembers = this.alwaysNew || failing.company.before.length > 0;
    const needsNew = remembers || NEED_NEW.includes(law) || code === 'blocks-held';
    if ((needsNew && this.#used) || this.#broken)
      await this.renew(needsNew ? 'what was asked before matters to it' : 'the server is stuck');
    // What the server answers alone is asked before the company comes, and the company finds a new server all the same.
    if (remembers && !NEED_NEW.includes(law) && code !== 'blocks-held' && failing.golden === undefined) {
      await this.truth(failing.case.request, failing.case.route);
      if (this.#used) await this.renew('what was asked before matters to it');
    }
    try {
      const sighting = await tryCase(this, failing);
      this.#broken ||= sighting?.transcript?.ending === 'deadline' || law === 'server-survives';
      return sighting;
    } catch (thrown) {
      const { code: error } = LockstepError.from(thrown);
      this.#broken ||= error === 'server-died' || error === 'deadline' || error === 'no-answer';
      throw thrown;
    }
  }

  /** Counted before it is sent, so that what is spent is never more than the budget. */
  spend(): void {
    if (this.interrupted) throw new LockstepError('interrupted', 'stopped by the user');
    if (this.#spent >= this.limit) {
      throw new LockstepError('budget-spent', `all ${this.limit} requests that were for this are spent`, {
        hint: 'Allow more with --budget: each try of a case costs as many requests as it has company.',
      });
    }
    this.#spent++;
    this.#used = true;
  }

  noteEnd(t: Transcript): void {
    this.#broken ||= t.ending === 'deadline';
  }

  /** Errors: `case-needs-new-server`, `interrupted`, and those of a start. */
  async renew(why: string): Promise<void> {
    const { renew } = this.#bench;
    if (renew === undefined) {
      throw new LockstepError('case-needs-new-server', `this case is to be tried on a server started anew: ${why}`, {
        hint: 'Use a target that is started here (embedded, process, docker), or restart the server and run this again.',
      });
    }
    if (this.interrupted) throw new LockstepError('interrupted', 'stopped by the user');
    this.#lab = this.#counted(await renew());
    this.#used = false;
    this.#broken = false;
  }

  #counted({ parts }: Lab): CountedLab {
    const lab = new CountedLab({ ...parts, fixtures: this.#keep }, this);
    lab.signal = this.#signal;
    return lab;
  }
}

class CountedLab extends Lab {
  readonly #stage: Stage;

  constructor(parts: LabParts, stage: Stage) {
    super(parts);
    this.#stage = stage;
  }

  override async run(c: Case, options: Partial<RunOptions> = {}): Promise<Transcript> {
    this.#stage.spend();
    const t = await super.run(c, options);
    this.#stage.noteEnd(t);
    return t;
  }
}
