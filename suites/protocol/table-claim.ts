import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Until, forRelease } from './for-release.ts';

export interface TableClaim<C> {
  readonly id: string;
  readonly statement: string;
  readonly cases: readonly C[];
  /** Why the target does not serve what the table is about, or undefined. */
  unless?(lab: Lab): string | undefined;
  /** Undefined when the reply was as the table says; otherwise what was different, in one sentence. */
  check(c: C, lab: Lab): Promise<string | undefined>;
}

/** What rows of every table may say of themselves. */
export interface TableRow {
  readonly name: string;
  /** Changes the server (loads, unloads, settings): only on targets that this run owns. */
  readonly changes?: true;
  /** Needs this project's model repository, with whichever of its checkpoints: its models, limits or configuration. */
  readonly stock?: true;
  /** Needs the checkpoint tiny: its ids or answers. */
  readonly tiny?: true;
  /** Needs the checkpoint tiny-spm: its ids or answers. */
  readonly spm?: true;
  /** Asks for a stream, which a repository without the decoupled policy does not give. */
  readonly streams?: true;
  /** Whether a release answers so; absent: every release does. */
  holds?(profile: ReleaseProfile): boolean;
}

/** Rows with tensors that the model repositories had not always, or not under this name. */
export const WITH_COUNTS: Pick<TableRow, 'holds'> = { holds: ({ models }) => models.returnsTokenCounts.value };
export const WITH_MIN_TOKENS: Pick<TableRow, 'holds'> = { holds: ({ models }) => models.minTokensTensor.value === 'min_tokens' };

/** A release whose streams decode the ids of each response alone. */
export const CHUNKED: Pick<TableRow, 'holds'> = { holds: ({ models }) => !models.streamedTextHoldsBackPartialCharacters.value };

/** What becomes of a request that lacks a required input which the core did not miss. */
export const UNMISSED: Pick<TableRow, 'holds'> = { holds: ({ core }) => !core.missingRequiredInputDetected.value };

/** What needs an ensemble that runs although optional inputs were not sent. */
export const RUNS: Pick<TableRow, 'holds'> = { holds: ({ core }) => core.ensembleRunsWithoutOptionalInputs.value };

/** A claim whose cases are the rows of a table of observed literals; after each row the server must still be alive. */
export function tableClaim<C extends TableRow & { readonly until?: Until<C> }>(t: TableClaim<C>): Claim {
  return {
    id: t.id,
    suite: 'protocol',
    statement: t.statement,
    routes: [],
    laws: ['as-observed'],
    async run(lab): Promise<Outcome> {
      const reason = t.unless?.(lab);
      if (reason !== undefined) return notServed(reason);
      const tiny = serves(lab, TINY_CHECKPOINT);
      const spm = serves(lab, SPM_CHECKPOINT);
      const asked = t.cases.map((c) => forRelease(c, lab.profile.core.id));
      const reasons = new Set(asked.flatMap(({ leftOut }) => leftOut ?? []));
      const cases = asked.filter(({ leftOut }) => leftOut === undefined).map(({ row }) => row);
      const own = cases.filter((c) => (tiny || spm || c.stock !== true) && (tiny || c.tiny !== true) && (spm || c.spm !== true));
      const rows = own.filter(
        (c) => (lab.parts.owned || c.changes !== true) && (lab.parts.decoupled || c.streams !== true) && (c.holds?.(lab.profile) ?? true),
      );
      const others = own.filter((c) => c.holds?.(lab.profile) === false).length;
      const left = tiny || spm ? 0 : t.cases.filter((c) => c.tiny === true || c.stock === true).length;
      const notes = [
        ...(left === 0 ? [] : [`${left} left out, they need the tiny checkpoint and its repository`]),
        ...(others === 0 ? [] : [`${others} about releases that answer otherwise`]),
        ...[...reasons].map((reason) => `${asked.filter(({ leftOut }) => leftOut === reason).length} not asked: ${reason}`),
      ];
      if (rows.length === 0) return notServed('every exchange of this table needs the tiny checkpoint');
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
      return structural(rows.length, 'exchanges as observed', failures, { notes });
    },
  };
}

const hashes = new Map<string, string>();

function serves({ tokenizer }: Lab, checkpoint: string): boolean {
  if (tokenizer.dir === checkpoint) return true;
  let hash = hashes.get(checkpoint);
  if (hash === undefined) hashes.set(checkpoint, (hash = loadTokenizer(checkpoint).hash));
  return tokenizer.hash === hash;
}
