import {
  type Answer,
  type LawContext,
  answerOf,
  firstDifference,
  rightPromptIds,
  servedAnswer,
  servedPromptIds,
  servesTrtllm,
} from '#checks/laws/index.ts';
import { type CompareOptions, type Comparison, NO_NOISE, type Noise, POLICIES, type Policy } from '#checks/compare/index.ts';
import type { Company } from '#checks/recording/index.ts';
import { type Cancel, ROUTES, type RouteContext, type RunOptions } from '#checks/routes/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import { type Case, type Mode, type Request, type RouteId, describeCase } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Metrics } from '#wire/protocol/prometheus.ts';
import { withoutSecrets } from '#wire/clients/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { compareOne } from './compare-one.ts';
import { CompanyBook } from './company.ts';
import { amid, diedOf, recorded, sameExchange } from './fixtures.ts';
import { measuredNoise } from './measure.ts';
import type { LabParts } from './parts.ts';
import type { Plan } from './plan.ts';
import type { Health } from '#targets/types.ts';

/** How long a process may take to be gone once its connections broke; a server that lives costs the wait. */
const DYING_MS = 300;
/** How long a dying process may write its stack. */
const ENDING_MS = 3000;
const LOOK_EVERY_MS = 10;
/** How long a route is waited for that did not answer the last time. */
const AFTER_HANG_MS = 1000;

/** The one place through which claims reach the target: runs cases, remembers ordinary ones, knows the accepted answers. */
export class Lab {
  readonly parts: LabParts;
  /** Of the claim that runs now; ends every case. After an abort the lab is thrown away, since what it remembers may be cut short. */
  signal: AbortSignal | undefined;
  readonly #context: RouteContext;
  readonly #seen = new Map<string, Promise<Transcript>>();
  readonly #truths = new Map<string, Promise<Answer>>();
  /** Routes whose last exchange never ended: a claim that waited as long for each of the next would not live to say so. */
  readonly #hung = new Set<RouteId>();
  /** Of the cases that run now, the most that ran together with each. */
  readonly #running = new Set<{ atOnce: number }>();
  readonly #company = new CompanyBook();
  readonly #atOnce = new WeakMap<Transcript, number>();
  #marginsServed: Promise<boolean> | undefined;
  #withoutMargins = false;
  #noise: Promise<Noise> | undefined;

  constructor(parts: LabParts) {
    this.parts = parts;
    this.#context = {
      clients: parts.clients,
      tokenizer: parts.tokenizer,
      profile: parts.profile,
      models: parts.models,
    };
  }

  get tokenizer(): Tokenizer {
    return this.parts.tokenizer;
  }

  /** Names of the target's models, by the route that asks them. */
  get models(): RouteContext['models'] {
    return this.parts.models;
  }

  get plan(): Plan {
    return this.parts.plan;
  }

  get profile(): ReleaseProfile {
    return this.parts.profile;
  }

  /** `n` ordinary cases, scaled by the budget, at least `least`. */
  count(n: number, least = 2): number {
    return Math.max(least, Math.round(n * this.parts.budget.scale));
  }

  /** Modes that the target can serve. */
  get modes(): readonly Mode[] {
    return this.parts.decoupled ? ['stream', 'unary'] : ['unary'];
  }

  /** The mode for claims that need but one: streams show more. */
  get mode(): Mode {
    return this.parts.decoupled ? 'stream' : 'unary';
  }

  /** Whether a request that was not drawn from the plan belongs to this run. */
  wants(request: Request): boolean {
    const { only } = this.parts;
    return only === undefined || request.id === only || only.startsWith(`${request.id}-`);
  }

  /** The first of these outputs that answers on a route cannot have: an ensemble may serve less than its engine. */
  missingOutput(route: RouteId, names: readonly string[]): string | undefined {
    const { ensembleOutputs } = this.parts;
    if ((route !== 'ensemble' && route !== 'generate') || ensembleOutputs.size === 0) return undefined;
    return names.find((name) => !ensembleOutputs.has(name));
  }

  served<R extends RouteId>(routes: readonly R[]): R[] {
    return routes.filter((r) => !this.parts.notServed.has(r));
  }

  /**
   * Runs one case now, and then looks at the process behind the reply: real servers crash on ordinary requests, and
   * stay "ready" with a dead Python stub. Never throws for what the server answered.
   *
   * Errors: `route-not-served`, `server-died`; what the claim's signal was aborted with.
   */
  async run(c: Case, options: Partial<RunOptions> = {}): Promise<Transcript> {
    const { signal } = this;
    signal?.throwIfAborted();
    const lacks = this.parts.notServed.get(c.route);
    if (lacks !== undefined)
      throw new LockstepError('route-not-served', lacks, { hint: 'Give the target the model of this route, or leave the claim out.' });
    const deadlineMs = this.#hung.has(c.route) ? Math.min(AFTER_HANG_MS, this.parts.deadlineMs) : this.parts.deadlineMs;
    const run = (tap?: RunOptions['tap']) => ROUTES[c.route].run(c, this.#context, { deadlineMs, signal, tap, ...options });
    const t = await (this.parts.fixtures === undefined ? this.#counted(run()) : this.#kept(c, options, run));
    if (t.ending === 'deadline') this.#hung.add(c.route);
    else if (t.ending === 'complete') this.#hung.delete(c.route);
    signal?.throwIfAborted();
    // A server that this run did not start is asked over the network, so only when there is a reason.
    if (!this.parts.owned && t.errors.length === 0 && t.ending !== 'broken' && t.ending !== 'deadline') return t;
    const { alive, detail } = await this.healthSoon(t.ending === 'broken');
    if (!alive) {
      const died = new LockstepError('server-died', `after ${describeCase(c)}: ${detail}`, {
        hint: 'The server log says why; the replay command sends the same request to a new server.',
      });
      throw diedOf(died, t);
    }
    return t;
  }

  /** How many cases were in flight while this one was, itself included: its company in the batch. */
  atOnce(t: Transcript): number {
    return this.#atOnce.get(t) ?? 1;
  }

  /** With its exchange and its company, for the case that it is found to fail. */
  async #kept(c: Case, options: Partial<RunOptions>, run: (tap?: RunOptions['tap']) => Promise<Transcript>): Promise<Transcript> {
    const end = this.#company.begin(c, options);
    let company: Company | undefined;
    try {
      const t = await this.#counted(recorded(run, options));
      company = end();
      return amid(company, t);
    } finally {
      if (company === undefined) end();
    }
  }

  async #counted(running: Promise<Transcript>): Promise<Transcript> {
    const own = { atOnce: 0 };
    this.#running.add(own);
    for (const one of this.#running) one.atOnce = Math.max(one.atOnce, this.#running.size);
    try {
      const t = this.#withoutSecrets(await running);
      this.#atOnce.set(t, own.atOnce);
      return t;
    } finally {
      this.#running.delete(own);
    }
  }

  /** Servers may quote in an error what they were sent. */
  #withoutSecrets(t: Transcript): Transcript {
    const { access } = this.parts.endpoints;
    if (t.errors.length === 0 || access === undefined) return t;
    return sameExchange(t, { ...t, errors: t.errors.map((error) => ({ ...error, message: withoutSecrets(error.message, access) })) });
  }

  /** A process of this run whose connection broke may be on its way out, so it gets a moment to be gone. */
  async healthSoon(broke: boolean): Promise<Health> {
    const endNs = nowNs() + (this.parts.owned && broke ? DYING_MS : 0) * 1e6;
    for (;;) {
      const health = await this.parts.health();
      if (!health.alive) return this.#lastWords(health);
      if (nowNs() >= endNs) return health;
      await sleep(LOOK_EVERY_MS, this.signal);
    }
  }

  /** One that no longer answers may still be writing its stack: its end, by a signal or a code, says more. */
  async #lastWords(found: Health): Promise<Health> {
    if (!this.parts.owned) return found;
    const endNs = nowNs() + ENDING_MS * 1e6;
    let health = found;
    while (health.ending === true && nowNs() < endNs) {
      await sleep(LOOK_EVERY_MS, this.signal);
      health = await this.parts.health();
    }
    return health.alive ? found : health;
  }

  runCancelled(c: Case, cancel: Cancel): Promise<Transcript> {
    return this.run(c, { cancel });
  }

  /** The ordinary run of a case, done once per lab: many laws read the same transcript. */
  observe(request: Request, route: RouteId, mode: Mode): Promise<Transcript> {
    const key = canonicalJson([request.prompt, request.sampling, request.limits, route, mode]);
    let seen = this.#seen.get(key);
    if (seen === undefined) {
      seen = this.#observe({ request, route, mode, repeat: 0 });
      this.#seen.set(key, seen);
    }
    return seen;
  }

  async #observe(c: Case): Promise<Transcript> {
    if (c.route.startsWith('openai')) return this.run(c);
    return this.run(c, { logProbs: true, margins: c.route === 'raw' && (await this.marginsServed()) });
  }

  /**
   * Whether raw serves generation logits: an engine that was built without gathering them refuses the request, and then
   * a flip cannot be judged.
   */
  marginsServed(): Promise<boolean> {
    this.#marginsServed ??= this.#probeMargins();
    return this.#marginsServed;
  }

  async #probeMargins(): Promise<boolean> {
    if (this.parts.notServed.has('raw')) {
      this.#withoutMargins = true;
      return false;
    }
    const request: Request = {
      id: 'margins-probe',
      prompt: { kind: 'text', text: 'a' },
      sampling: { kind: 'greedy' },
      limits: { maxTokens: 1 },
    };
    const asked = await this.run({ request, route: 'raw', mode: 'unary', repeat: 0 }, { margins: true });
    if (asked.errors.length === 0 && asked.margins.length > 0) return true;
    // Refused is what is answered without them; a server that answers neither has another fault, and is no excuse.
    const plain = await this.run({ request, route: 'raw', mode: 'unary', repeat: 1 });
    this.#withoutMargins = plain.errors.length === 0 && plain.ending === 'complete';
    return false;
  }

  /** True once raw refused generation logits to a request that it answers without: laws that need them then have no case. */
  get withoutMargins(): boolean {
    return this.#withoutMargins;
  }

  /**
   * What raw answers to a request when asked for everything at once (unary, margins): the accepted answer for the laws
   * that compare. Its own rightness is the goldens' and the determinism suite's business.
   */
  truth(request: Request): Promise<Answer> {
    const key = canonicalJson([request.prompt, request.sampling, request.limits]);
    let truth = this.#truths.get(key);
    if (truth === undefined) {
      truth = this.#truth(request);
      this.#truths.set(key, truth);
    }
    return truth;
  }

  /**
   * The accepted answer for a route: a chat front end may give the engine other ids than the other routes do, and
   * trtllm-serve leaves stop phrases out.
   */
  async truthOn(request: Request, route: RouteId): Promise<Answer> {
    const ids = servedPromptIds(request, route, this.tokenizer, this.profile);
    const same = firstDifference(ids, rightPromptIds(this.tokenizer, request)) < 0;
    const answer = await this.truth(same ? request : { ...request, prompt: { kind: 'ids', ids } });
    return servesTrtllm(route, this.profile) ? servedAnswer(answer, request, this.tokenizer) : answer;
  }

  /** Whether the right answer to a request is known: raw gives any, and without it the goldens give some. */
  knows(request: Request): boolean {
    return this.parts.accepted === undefined || this.parts.accepted(request) !== undefined;
  }

  async #truth(request: Request): Promise<Answer> {
    if (this.parts.accepted !== undefined) {
      const answer = this.parts.accepted(request);
      if (answer !== undefined) return answer;
      throw new LockstepError('route-not-served', `raw is not served, and no golden tells the answer to ${request.id}`, {
        hint: 'Record goldens on a target that serves raw, with the same checkpoint.',
      });
    }
    const c: Case = { request, route: 'raw', mode: 'unary', repeat: 0 };
    const t = await this.run(c, { logProbs: true, margins: await this.marginsServed() });
    if (t.errors.length > 0 || t.ending !== 'complete') {
      const first = t.errors[0];
      throw new LockstepError(
        'no-answer',
        `${describeCase(c)} gave no answer: ${first === undefined ? `the stream ended as ${t.ending}` : `${first.code} ${first.message}`}`,
        {
          hint: 'The raw model must answer before anything can be compared with it; see the server log.',
        },
      );
    }
    const answer = answerOf(t, this.tokenizer);
    if (answer === undefined) throw new LockstepError('no-answer', `${describeCase(c)} gave no answer to judge by`);
    return answer;
  }

  lawContext(truth?: Answer): LawContext {
    return { tokenizer: this.tokenizer, profile: this.profile, truth };
  }

  get policy(): Policy {
    return POLICIES[this.parts.policy];
  }

  /** How much this target's numbers move between equal requests, measured once per lab on requests of its own. */
  noise(): Promise<Noise> {
    this.#noise ??= measuredNoise(this);
    return this.#noise;
  }

  async compareOptions(more: Partial<CompareOptions> = {}): Promise<CompareOptions> {
    return { tokenizer: this.tokenizer, noise: await this.noise(), ...more };
  }

  /**
   * How far an answer is from the accepted one; whether that fails is the policy's to say (`failsUnder`). The noise
   * can only turn `unexplained` into `near-tie`, so it is measured when an answer is unexplained without it.
   */
  async judge(t: Transcript, truth: Answer, more: Partial<CompareOptions> = {}): Promise<Comparison> {
    const sampled = t.case.request.sampling.kind === 'sampled';
    const strict = compareOne(t, truth, this.profile, { tokenizer: this.tokenizer, noise: NO_NOISE, sampled, ...more });
    if (strict.verdict !== 'unexplained') return strict;
    return compareOne(t, truth, this.profile, await this.compareOptions({ sampled, ...more }));
  }

  metrics(): Promise<Metrics> | undefined {
    return this.parts.clients.metrics?.();
  }
}
