import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Failure } from '#checks/lab/result.ts';

export interface TableClaim<C> {
  readonly id: string;
  readonly statement: string;
  readonly cases: readonly C[];
  /** Why the target does not serve what the table is about, or undefined. */
  unless?(lab: Lab): string | undefined;
  /** Undefined when the reply was as the table says; otherwise what was different, in one sentence. */
  check(c: C, lab: Lab): Promise<string | undefined>;
}

/** A claim whose cases are the rows of a table of observed literals; after each row the server must still be alive. */
export function tableClaim<C extends { readonly name: string; readonly changes?: true }>(t: TableClaim<C>): Claim {
  return {
    id: t.id,
    suite: 'protocol',
    statement: t.statement,
    routes: [],
    laws: ['as-observed'],
    async run(lab): Promise<Outcome> {
      const reason = t.unless?.(lab);
      if (reason !== undefined) return notServed(reason);
      const rows = t.cases.filter((c) => lab.parts.owned || c.changes !== true);
      const failures: Failure[] = [];
      for (const row of rows) {
        let text: string | undefined;
        try {
          text = await t.check(row, lab);
        } catch (thrown) {
          text = LockstepError.from(thrown).message;
        }
        const health = await lab.parts.health();
        if (!health.alive) {
          failures.push({ law: 'server-survives', code: 'server-died', text: `after "${row.name}": ${health.detail}` });
          break;
        }
        if (text !== undefined)
          failures.push({
            law: 'as-observed',
            code: 'differs-from-table',
            text: `${row.name}: ${text}`,
            replay: replayOf(lab, t.id),
          });
      }
      return structural(rows.length, 'exchanges as observed', failures);
    },
  };
}
