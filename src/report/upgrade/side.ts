import type { AnswersRecord, Forced } from '#checks/answers/index.ts';
import type { ContractRecord } from '#checks/contract/index.ts';
import type { Identity } from '#core/identity/index.ts';
import type { JsonReport } from '../json-schema.ts';

export const PARTS = ['contract', 'answers', 'run'] as const;
/** What one side of an upgrade is looked at for. */
export type Part = (typeof PARTS)[number];

/** One side of an upgrade, as it was recorded: both need not run at once, and one may be a file. */
export interface Side {
  /** As it was asked for: `process:2.42`. */
  readonly name: string;
  readonly recordedAt: string;
  readonly identity: Identity;
  readonly contract?: ContractRecord | undefined;
  readonly answers?: AnswersRecord | undefined;
  /** This side led along the other's answers behind each first difference. */
  readonly forced?: Forced | undefined;
  readonly run?: JsonReport | undefined;
  /** Parts that are not there, and why. */
  readonly missing: readonly { readonly part: Part; readonly why: string }[];
}

/** Release of Triton that a side told, as `2.42`; undefined where it told none. */
export function tritonOf({ identity }: Side): string | undefined {
  return /\d+\.\d+/.exec(identity['triton'] ?? '')?.[0];
}
