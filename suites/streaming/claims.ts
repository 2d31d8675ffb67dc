import fc from 'fast-check';
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { reworded } from '#checks/lab/fixtures.ts';
import { type Judged, failureOf, judged } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { NOT_DECOUPLED, notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { type Law, judge, law, servesTrtllm } from '#checks/laws/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { deriveSeed } from '#core/seed/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import { type Request, ROUTE_IDS, type RouteId } from '#core/request/index.ts';
import type { Failure } from '#checks/lab/result.ts';
import { asItGoes } from './as-it-goes.ts';
import { cancelWholeStream } from './cancel-whole-stream.ts';
import { CANCELLATION } from './cancellation.ts';
import { interleaved } from './interleaved.ts';
import { STRATA, type Stratum } from './strata.ts';

/** The laws of one stream, by route: everything that can be said of it alone or against raw's answer. */
const STREAM_LAWS: readonly string[] = [
  'answers-at-all',
  'framing',
  'request-id-echoed',
  'one-object',
  'final-flag-once',
  'done-marker',
  'role-first',
  'ids-in-vocabulary',
  'sequence-lengths-true',
  'deltas-equal-whole',
  'texts-only-grow',
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

/** Time for the properties of all strata of one route together; seconds are enough where nothing hangs. */
const PROPERTIES_MS = 60_000;
/** A property looks at its time between runs only, and one run may wait for three exchanges (30 s each) in vain. */
const STREAMS_DEADLINE_MS = PROPERTIES_MS + 100_000;

/** Which laws a route's streams can exercise; without a profile those that one or the other release can. */
function lawsOn(route: RouteId, profile?: ReleaseProfile): Law[] {
  const openai = route.startsWith('openai');
  const minTokens = !openai || profile === undefined || servesTrtllm(route, profile);
  const cannot = [
    ...(minTokens && route !== 'llmapi' ? [] : ['min-tokens']),
    ...(openai || route === 'llmapi' ? [] : ['finish-reason-true']),
    ...(openai ? [] : ['usage-counts', 'done-marker', 'role-first']),
  ];
  return STREAM_LAWS.filter((id) => !cannot.includes(id))
    .map(law)
    .filter((l) => l.routes === 'all' || l.routes.includes(route));
}

const streams: readonly Claim[] = ROUTE_IDS.map((route) => {
  const id = `${route}-streams`;
  /** Where every request with stop strings is refused (a known gap), no answer ends with one. */
  const exercised = (laws: readonly Law[], { profile }: Lab): readonly Law[] =>
    route === 'llmapi' && !profile.models.torch.llmapiTakesStopStrings.value ? laws.filter((l) => l.id !== 'stop-words') : laws;
  return {
    id,
    suite: 'streaming',
    statement: `Every stream of ${route} obeys the laws of streams: how it is cut, how it ends, what it adds up to.`,
    routes: [route],
    laws: lawsOn(route).map((l) => l.id),
    deadlineMs: STREAMS_DEADLINE_MS,
    async run(lab): Promise<Outcome> {
      if (lab.served([route]).length === 0) return notServed(lab.parts.notServed.get(route)!);
      const laws = lawsOn(route, lab.profile);
      const seen: Judged[] = [];
      const shrunk: Failure[] = [];
      const notes: string[] = [];
      const endNs = nowNs() + PROPERTIES_MS * 1e6;
      for (const stratum of STRATA) {
        const leftMs = Math.max(1, (endNs - nowNs()) / 1e6);
        const found = await property(lab, { id, route, stratum, laws, leftMs, seen }).catch((thrown: unknown) => {
          if (shrunk.length === 0) throw thrown;
          // A counter-example that is there already says more than what broke after it.
          return { failures: [], notes: [`${stratum.id}: ${LockstepError.from(thrown).message}`] };
        });
        shrunk.push(...found.failures);
        notes.push(...found.notes);
      }
      const all = judged(lab, id, seen, exercised(laws, lab), 'streams', { notes });
      return shrunk.length > 0 ? { ...all, failures: [...shrunk, ...all.failures.filter((f) => f.code === 'not-exercised')] } : all;
    },
  };
});

interface Property {
  readonly id: string;
  readonly route: RouteId;
  readonly stratum: Stratum;
  readonly laws: readonly Law[];
  readonly leftMs: number;
  /** Every judged stream is put in here. */
  readonly seen: Judged[];
}

/**
 * One fast-check property; gives the shrunk counter-example as failures.
 *
 * Errors: whatever broke a run before a law could speak (`no-answer`), and `property-broke` when no run ended.
 */
async function property(
  lab: Lab,
  { id, route, stratum, laws, leftMs, seen }: Property,
): Promise<{ readonly failures: readonly Failure[]; readonly notes: readonly string[] }> {
  let last: Failure[] = [];
  const check = async (request: Request): Promise<boolean> => {
    if (ROUTES[route].cannotCarry({ request, route, mode: 'stream', repeat: 0 }, lab.profile) !== undefined) return true;
    if (!lab.knows(request)) return true;
    const [truth, transcript] = [await lab.truthOn(request, route), await lab.observe(request, route, 'stream')];
    seen.push({ transcript, truth });
    const { violations } = judge([transcript], laws, lab.lawContext(truth));
    if (violations.length > 0) last = violations.map((v) => failureOf(lab, id, transcript, v.violation, truth));
    return violations.length === 0;
  };
  const asked = lab.parts.budget.propertyRuns;
  const details = await fc.check(
    fc.asyncProperty(stratum.arbitrary(lab), async (drawn) => {
      const request = await stratum.request(lab, drawn);
      return request === undefined || check(request);
    }),
    // The same requests on every route: what raw answers is then asked once.
    { seed: deriveSeed(lab.plan.seed, `streams-${stratum.id}`), numRuns: asked, interruptAfterTimeLimit: leftMs },
  );
  const where = `stratum ${stratum.id}, fast-check seed ${details.seed}, path ${details.counterexamplePath ?? '-'}, shrunk ${details.numShrinks} times`;
  if (details.failed && last.length === 0) {
    throw (
      details.errorInstance ??
      new LockstepError('property-broke', `no run of the property ended within ${Math.round(leftMs)} ms (${where})`, {
        hint: 'The exchanges before it took all the time of this claim: look for what hangs.',
      })
    );
  }
  const short = !details.failed && (details.interrupted || details.numRuns < asked);
  return {
    failures: details.failed ? last.map((f) => reworded(f, `${f.text} (${where})`)) : [],
    notes: short ? [`${stratum.id}: ${details.numRuns} of ${asked} runs in the time there was`] : [],
  };
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

/** Nothing of this suite can be asked of a repository without streams. */
function needsStreams(claim: Claim): Claim {
  return { ...claim, run: async (lab) => (lab.parts.decoupled ? claim.run(lab) : notServed(NOT_DECOUPLED)) };
}

export const CLAIMS: readonly Claim[] = [...streams, shortest, interleaved, asItGoes, ...CANCELLATION, cancelWholeStream].map(needsStreams);
