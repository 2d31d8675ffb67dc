import fc from 'fast-check';
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Judged, failureOf, judged } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { NOT_DECOUPLED, notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { type Law, judge, law } from '#checks/laws/index.ts';
import { deriveSeed } from '#core/seed/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import { FLAG } from '#core/transcript/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { CANCELLATION } from './cancellation.ts';
import { interleaved } from './interleaved.ts';
import { STRATA, type Stratum } from './strata.ts';

/** The laws of one stream, by route: everything that can be said of it alone or against raw's answer. */
const STREAM_LAWS: readonly string[] = [
  'answers-at-all',
  'framing',
  'request-id-echoed',
  'final-flag-once',
  'done-marker',
  'role-first',
  'ids-in-vocabulary',
  'sequence-lengths-true',
  'deltas-equal-whole',
  'eos-ending',
  'length-ending',
  'stop-words',
  'count-limit',
  'min-tokens',
  'no-empty-event',
  'no-broken-utf8',
  'no-control-text',
  'greedy-is-argmax',
  'log-probs-real',
  'finish-reason-true',
  'usage-counts',
];

const ROUTE_LIST: readonly RouteId[] = ['raw', 'ensemble', 'generate', 'openai-completions', 'openai-chat'];

function lawsOn(route: RouteId): Law[] {
  const cannot = route.startsWith('openai') ? ['min-tokens'] : ['finish-reason-true', 'usage-counts', 'done-marker', 'role-first'];
  return STREAM_LAWS.filter((id) => !cannot.includes(id))
    .map(law)
    .filter((l) => l.routes === 'all' || l.routes.includes(route));
}

const streams: readonly Claim[] = ROUTE_LIST.map((route) => {
  const id = `${route}-streams`;
  const laws = lawsOn(route);
  return {
    id,
    suite: 'streaming',
    statement: `Every stream of ${route} obeys the laws of streams: how it is cut, how it ends, what it adds up to.`,
    routes: [route],
    laws: laws.map((l) => l.id),
    async run(lab): Promise<Outcome> {
      if (lab.served([route]).length === 0) return notServed(lab.parts.notServed.get(route)!);
      const seen: Judged[] = [];
      const shrunk: Failure[] = [];
      for (const stratum of STRATA) shrunk.push(...(await property(lab, id, route, stratum, laws, seen)));
      const all = judged(lab, id, seen, laws, 'streams');
      return shrunk.length > 0 ? { ...all, failures: [...shrunk, ...all.failures.filter((f) => f.code === 'not-exercised')] } : all;
    },
  };
});

/** One fast-check property; gives the shrunk counter-example as failures, and puts every judged stream into `seen`. */
async function property(lab: Lab, id: string, route: RouteId, stratum: Stratum, laws: readonly Law[], seen: Judged[]): Promise<Failure[]> {
  let last: Failure[] = [];
  const check = async (request: Request): Promise<boolean> => {
    if (ROUTES[route].cannotCarry({ request, route, mode: 'stream', repeat: 0 }) !== undefined) return true;
    const [truth, transcript] = [await lab.truthOn(request, route), await lab.observe(request, route, 'stream')];
    seen.push({ transcript, truth });
    const { violations } = judge([transcript], laws, lab.lawContext(truth));
    if (violations.length > 0) last = violations.map((v) => failureOf(lab, id, transcript, v.violation, truth));
    return violations.length === 0;
  };
  const details = await fc.check(
    fc.asyncProperty(stratum.arbitrary(lab), async (drawn) => {
      const request = await stratum.request(lab, drawn);
      return request === undefined || check(request);
    }),
    // The same requests on every route: what raw answers is then asked once.
    { seed: deriveSeed(lab.plan.seed, `streams-${stratum.id}`), numRuns: lab.parts.budget.propertyRuns, interruptAfterTimeLimit: 20_000 },
  );
  if (!details.failed || last.length === 0) return [];
  const where = `stratum ${stratum.id}, fast-check seed ${details.seed}, path ${details.counterexamplePath ?? '-'}, shrunk ${details.numShrinks} times`;
  return last.map((f) => ({ ...f, text: `${f.text} (${where})` }));
}

const shortest: Claim = {
  id: 'one-token',
  suite: 'streaming',
  statement: 'max_tokens 1 to 4 give exactly that many ids, the last one with the final flag and nothing after it.',
  routes: ['raw'],
  laws: ['length-ending', 'final-flag-once', 'no-empty-event'],
  async run(lab): Promise<Outcome> {
    const prompts = lab.plan.draw('one-token', lab.count(5), (p) => p.eosAtOnce !== true && p.kind !== 'silence');
    const cases: Judged[] = [];
    for (const p of prompts) {
      for (const maxTokens of [1, 2, 3, 4]) {
        const request = requestOf(p, { maxTokens, stopAtEos: false }, `-exactly-${maxTokens}`);
        cases.push({ transcript: await lab.run({ request, route: 'raw', mode: 'stream', repeat: 0 }), truth: await lab.truth(request) });
      }
    }
    const wrong = cases.filter((c) => c.transcript.ids.length !== c.transcript.case.request.limits.maxTokens);
    if (wrong.length > 0) {
      return structural(
        cases.length,
        'cut streams',
        wrong.slice(0, 3).map((c) =>
          failureOf(
            lab,
            'one-token',
            c.transcript,
            {
              law: 'length-ending',
              code: 'count',
              text: `${c.transcript.ids.length} ids came for max_tokens ${c.transcript.case.request.limits.maxTokens}, without end_id`,
            },
            c.truth,
          ),
        ),
      );
    }
    return judged(lab, 'one-token', cases, [law('length-ending'), law('final-flag-once'), law('no-empty-event')], 'cut streams');
  },
};

/** Law: what a client waits for is the first token, not the last (NVIDIA/TensorRT-LLM users report both, class C). */
const asItGoes: Claim = {
  id: 'as-it-goes',
  suite: 'streaming',
  statement: 'A stream gives its answer as it is made: the first event comes long before the last.',
  routes: ['raw', 'ensemble', 'generate', 'openai-completions'],
  laws: ['streams-as-it-goes'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const long = lab.plan.draw('as-it-goes', 1, (p) => p.long === true)[0] ?? lab.plan.draw('as-it-goes', 1)[0]!;
    let n = 0;
    for (const route of lab.served(asItGoes.routes)) {
      const limits = route.startsWith('openai') ? { maxTokens: 100 } : { maxTokens: 100, minTokens: 100 };
      // The best of three: a pause of this client may hold events back, a server that waits for the end always does.
      const shares: number[] = [];
      for (let repeat = 0; repeat < 3 && !(Math.min(...shares) < 0.5); repeat++) {
        const t = await lab.run({ request: requestOf(long, limits, '-whole'), route, mode: 'stream', repeat });
        const first = t.atNs[t.flags.findIndex((f) => (f & FLAG.role) === 0)];
        if (t.events >= 20 && first !== undefined) shares.push(first / t.endedNs);
      }
      if (shares.length === 0) continue;
      n++;
      const share = Math.min(...shares);
      if (share > 0.5)
        failures.push({
          law: 'streams-as-it-goes',
          code: 'held-back',
          text: `${route}: the first event of a long answer came after ${Math.round(share * 100)} % of the time, at best`,
        });
    }
    return structural(n, 'routes', failures);
  },
};

/** Nothing of this suite can be asked of a repository without streams. */
function needsStreams(claim: Claim): Claim {
  return { ...claim, run: async (lab) => (lab.parts.decoupled ? claim.run(lab) : notServed(NOT_DECOUPLED)) };
}

export const CLAIMS: readonly Claim[] = [...streams, shortest, interleaved, asItGoes, ...CANCELLATION].map(needsStreams);
