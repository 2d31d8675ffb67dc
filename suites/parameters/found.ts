/** What the claims about several answers and their logits share: prompts, noise, and what was found. */
import type { Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { promptIds } from '#checks/routes/prompt.ts';
import { bool } from '../protocol/requests.ts';
import { LACKING, type RawAnswer, type RawReply } from './raw-reply.ts';

export const MAX_TOKENS = 12;
/** The largest change of a log-probability between honest runs that was measured: bf16 0.15, with cache reuse 0.16 (docs/determinism.md). */
const NUMERIC_NOISE = 0.2;

/** Between float32 and anything finer (docs/observed.md#numerics), twice: both sides are served as float32. */
const EXACT_NOISE = 4e-5;
export const noiseOf = (lab: Lab) => (lab.policy.id === 'exact' ? EXACT_NOISE : NUMERIC_NOISE);

export const flag = (name: string) => bool(name, [1, 1], [true]);

interface Prompt {
  readonly name: string;
  readonly ids: readonly number[];
}

export function draw(lab: Lab, label: string, count: number): Prompt[] {
  const asked = lab.plan.draw(label, lab.count(count), (p: PoolPrompt) => p.eosAtOnce !== true);
  return asked.map((p) => ({ name: p.name, ids: [...promptIds(requestOf(p, { maxTokens: MAX_TOKENS }).prompt, lab.tokenizer)] }));
}

/** Collects what a claim finds; the first refusal by an engine that lacks the feature says that it is not served. */
export class Found {
  readonly failures: Failure[] = [];
  readonly notes: string[] = [];
  cases = 0;
  lacking: string | undefined;
  readonly #lab: Lab;
  readonly #claim: string;
  readonly #law: string;

  constructor(lab: Lab, claim: string, law: string) {
    this.#lab = lab;
    this.#claim = claim;
    this.#law = law;
  }

  fail(code: string, text: string, law = this.#law): void {
    this.failures.push({ law, code, text, replay: replayOf(this.#lab, this.#claim) });
  }

  /** The replies, or undefined when there is nothing to judge. */
  replies({ replies, error }: RawAnswer, what: string): readonly RawReply[] | undefined {
    if (error === undefined && replies.length > 0) return replies;
    if (error !== undefined && LACKING.test(error)) this.lacking ??= error;
    else this.fail('no-answer', `${what}: ${error ?? 'no response with outputs'}`, 'answers-at-all');
    return undefined;
  }

  outcome(unit: string): Outcome {
    if (this.cases === 0 && this.failures.length === 0 && this.lacking !== undefined) return notServed(this.lacking);
    return structural(this.cases, unit, this.failures, { notes: this.notes });
  }
}
