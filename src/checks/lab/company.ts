import type { Companion, Company } from '#checks/recording/index.ts';
import type { RunOptions } from '#checks/routes/index.ts';
import type { Case } from '#core/request/index.ts';
import { askedOf } from './asked.ts';

/** Enough for what one of the last requests left in a cache or a slot, and small enough for a file that people read. */
const REMEMBERED = 64;

interface Entry {
  readonly own: Companion;
  readonly before: readonly Companion[];
  readonly beside: Companion[];
}

/** Keeps who ran when, so that a failing case can be repeated in its company. */
export class CompanyBook {
  readonly #running = new Set<Entry>();
  #over: readonly Companion[] = [];

  /** A case begins; the function that this gives is called at its end, and gives its company. */
  begin(c: Case, options: Partial<RunOptions>): () => Company {
    const running = [...this.#running];
    const entry: Entry = { own: { case: c, asked: askedOf(options) }, before: this.#over, beside: running.map(({ own }) => own) };
    for (const { beside } of running) beside.push(entry.own);
    this.#running.add(entry);
    return () => {
      this.#running.delete(entry);
      this.#over = [...this.#over, entry.own].slice(-REMEMBERED);
      return { before: entry.before, beside: entry.beside };
    };
  }
}
