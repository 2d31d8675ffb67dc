import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';

export const FINDING_KINDS = [
  'contract-fatal',
  'contract-breaking',
  'contract-behaviour',
  'contract-addition',
  'answers-explained',
  'answers-unjudged',
  'answers-wrong',
  'old-disagrees-with-itself',
  'new-disagrees-with-itself',
  'law-newly-broken',
  'law-still-broken',
  'law-mended',
  'claim-not-served-any-more',
  'claim-newly-served',
  'gap-new',
  'gap-fixed',
  'gap-still',
  'slower',
  'speed-not-shown',
  'not-compared',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** What a finding makes of the verdict. */
export const WEIGHTS = ['note', 'REVIEW', 'UNSAFE'] as const;
export type Weight = (typeof WEIGHTS)[number];

const POLICY = z.strictObject({
  findings: z.record(z.enum(FINDING_KINDS), z.enum(WEIGHTS)),
  limits: z.strictObject({
    /** Furthest that log-probabilities may move at equal positions and still be called rounding: 99 % quantile, in nats. */
    maxShiftNats: z.number().positive(),
    /** New time by old time from which an upgrade is slower. */
    maxSlowdown: z.number().min(1),
    /** Flips from which it is asked whether they sit at low margins. */
    flipsToJudgeMargins: z.number().int().min(1),
  }),
});

export interface UpgradePolicy {
  readonly findings: Readonly<Record<FindingKind, Weight>>;
  readonly limits: { readonly maxShiftNats: number; readonly maxSlowdown: number; readonly flipsToJudgeMargins: number };
}

/** The policy of this project (policy.json), and the model for one of your own. */
export const OWN_POLICY = join(import.meta.dirname, 'policy.json');

/** Errors: `policy-unreadable`, which says what is wrong and where. */
export function readPolicy(path: string = OWN_POLICY): UpgradePolicy {
  const hint = `Begin with a copy of ${OWN_POLICY}: every kind of finding is note, REVIEW or UNSAFE.`;
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw new LockstepError('policy-unreadable', `cannot read the policy ${path}: ${(thrown as Error).message}`, { hint, cause: thrown });
  }
  const parsed = POLICY.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LockstepError('policy-unreadable', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message}`, { hint });
}
