import { holm } from '#core/stats/index.ts';
import { compareIdentities } from '#core/identity/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { type AnswersComparison, compareAnswers } from './compare-answers.ts';
import { compareRuns, type RunsComparison } from './compare-runs.ts';
import { compareSpeed, type SpeedRow } from './compare-speed.ts';
import { type ContractDiff, diffContracts } from './contract/index.ts';
import { findingsOf, type Finding } from './findings.ts';
import type { UpgradePolicy, Weight } from './policy.ts';
import { type Side, tritonOf } from './side.ts';

/** An upgrade, compared: what `lockstep upgrade --json` writes, schema 1 (docs/upgrade.md#json). */
export interface Upgrade {
  readonly schema: 1;
  readonly kind: 'upgrade';
  readonly at: string;
  readonly verdict: 'SAFE' | 'REVIEW' | 'UNSAFE';
  /** Why, heaviest first. */
  readonly findings: readonly Finding[];
  readonly identity: {
    readonly differing: readonly { readonly key: string; readonly a: string; readonly b: string }[];
    readonly same: readonly string[];
    readonly untold: readonly string[];
  };
  readonly contract: ContractDiff | undefined;
  readonly answers: AnswersComparison | undefined;
  readonly runs: RunsComparison | undefined;
  readonly speed: readonly SpeedRow[];
  /** Of the tests that could make a verdict, after Holm. */
  readonly tests: readonly { readonly what: string; readonly p: number }[];
  readonly policy: UpgradePolicy;
  readonly from: Side;
  readonly to: Side;
}

/** Everything that both sides hold, compared, and one verdict by the policy. */
export function judgeUpgrade(
  from: Side,
  to: Side,
  options: { readonly policy: UpgradePolicy; readonly tokenizer: Tokenizer; readonly at: string },
): Upgrade {
  const { policy, tokenizer, at } = options;
  const [a, b] = [tritonOf(from), tritonOf(to)];
  const contract =
    from.contract === undefined || to.contract === undefined
      ? undefined
      : diffContracts(from.contract, to.contract, a === undefined || b === undefined ? undefined : { from: a, to: b });
  const [old, now] = [answered(from), answered(to)];
  const answers =
    old === undefined || now === undefined
      ? undefined
      : compareAnswers(old, now, { tokenizer, maxShift: policy.limits.maxShiftNats, forced: to.forced });
  const speed = old === undefined || now === undefined ? [] : compareSpeed(old, now, policy.limits.maxSlowdown);
  const runs = from.run === undefined || to.run === undefined ? undefined : compareRuns(from.run, to.run);
  const tests = adjusted([
    ...(answers === undefined
      ? []
      : [{ what: 'answers part earlier across than within the old side (log-rank by prompt)', p: answers.logRank.p }]),
    ...(runs === undefined ? [] : [{ what: 'more claims got worse than better (McNemar)', p: runs.p }]),
  ]);
  const findings = findingsOf({ contract, answers, runs, speed, from, to }, policy);
  return {
    schema: 1,
    kind: 'upgrade',
    at,
    verdict: worst(findings.map(({ weight }) => weight)),
    findings,
    identity: compareIdentities(from.identity, to.identity),
    contract,
    answers,
    runs,
    speed,
    tests,
    policy,
    from,
    to,
  };
}

const answered = ({ answers }: Side) => (answers === undefined || answers.items.length === 0 ? undefined : answers);

function worst(weights: readonly Weight[]): Upgrade['verdict'] {
  return weights.includes('UNSAFE') ? 'UNSAFE' : weights.includes('REVIEW') ? 'REVIEW' : 'SAFE';
}

function adjusted(tests: readonly { readonly what: string; readonly p: number }[]) {
  const p = holm(tests.map((one) => one.p));
  return tests.map(({ what }, i) => ({ what, p: p[i]! }));
}
