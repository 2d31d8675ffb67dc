import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { ROUTE_IDS, type Request, type RouteId } from '#core/request/index.ts';
import { settled } from '#checks/lab/settled.ts';
import { byItself } from './by-itself.ts';
import { beyondTheSlots } from './beyond-the-slots.ts';
import { coldWarm } from './cold-and-warm.ts';
import { inFlight } from './in-flight.ts';
import { seeds } from './seeds.ts';

const MAX_TOKENS = 32;

/** One of each kind: the two BLS differ in how they cut a text, and not in how it comes to be. */
const ROUTES: readonly RouteId[] = ROUTE_IDS.filter((route) => route !== 'bls-accumulate');

function requests(lab: Lab, label: string, count: number, route: RouteId = 'raw'): Request[] {
  return lab.plan
    .draw(label, lab.count(count), route === 'openai-chat' ? (p) => p.messages !== undefined : undefined)
    .map((p) => requestOf(p, { maxTokens: MAX_TOKENS }));
}

const repeated: Claim = {
  id: 'repeated',
  suite: 'determinism',
  statement: 'The same greedy request gives the same answer every time, streamed or not.',
  routes: ROUTES,
  laws: ['same-ids', 'same-text'],
  async run(lab): Promise<Outcome> {
    const cases: Compared[] = [];
    for (const route of lab.served(ROUTES)) {
      for (const request of requests(lab, 'repeated', 14, route)) {
        const truth = await lab.truthOn(request, route);
        for (let repeat = 0; repeat < (route === 'raw' ? 3 : 1); repeat++) {
          for (const mode of lab.modes) {
            cases.push({ transcript: await lab.run({ request, route, mode, repeat }), truth });
          }
        }
      }
    }
    const noise = await lab.noise();
    return compared(lab, repeated.id, 'same-ids', cases, 'answers', {
      notes: [`noise ≤ ${noise.e.toPrecision(1)} nat over ${noise.positions} tokens`],
    });
  },
};

const neighbours: Claim = {
  id: 'amid-neighbours',
  suite: 'determinism',
  statement: 'An answer does not depend on what else is in the batch: alone, and amid other requests in flight.',
  routes: ROUTES,
  laws: ['batch-invariance', 'no-contamination'],
  async run(lab): Promise<Outcome> {
    const cases: Compared[] = [];
    for (const route of lab.served(ROUTES)) {
      const asked = requests(lab, `neighbours-${route}`, route === 'raw' ? 32 : 12, route);
      const truths = await inParallel(asked, 1, (r) => lab.truthOn(r, route));
      const transcripts = await inParallel(asked, 8, (request) => lab.run({ request, route, mode: lab.mode, repeat: 0 }));
      transcripts.forEach((transcript, i) => {
        const foreign = asked.flatMap((r, j) =>
          j !== i && distinctive(truths[j]!.text) ? [{ request: r.id, text: truths[j]!.text }] : [],
        );
        cases.push({ transcript, truth: truths[i]!, foreign });
      });
    }
    return compared(lab, neighbours.id, 'batch-invariance', cases, 'answers amid 7 neighbours');
  },
};

/** Short answers ("Heads.") are right for many prompts; only a longer one proves a mix-up. */
function distinctive(text: string): boolean {
  return text.length >= 16;
}

const nearTies: Claim = {
  id: 'near-ties-amid-neighbours',
  suite: 'determinism',
  statement: 'Even where two tokens are almost level, an answer does not depend on what else is in the batch.',
  routes: ['raw'],
  laws: ['batch-invariance'],
  async run(lab): Promise<Outcome> {
    const asked = closest(lab, 24);
    if (asked.length === 0) return notServed('no goldens with margins, so nobody knows where the near ties are');
    const truths = await inParallel(asked, 1, (r) => lab.truth(r));
    const cases: Compared[] = [];
    for (let repeat = 0; repeat < 2; repeat++) {
      const order = lab.plan.rng(`near-ties-${repeat}`).shuffle(asked.map((_, i) => i));
      const transcripts = await inParallel(order, 8, (i) => lab.run({ request: asked[i]!, route: 'raw', mode: lab.mode, repeat }));
      cases.push(...order.map((i, at) => ({ transcript: transcripts[at]!, truth: truths[i]! })));
    }
    return compared(lab, nearTies.id, 'batch-invariance', cases, 'answers with near ties');
  },
};

/** The requests whose accepted answers pass the smallest margins. */
function closest(lab: Lab, count: number): Request[] {
  const store = goldenStore(lab.parts);
  if (!store.list().includes(GREEDY)) return [];
  const smallest = (margins: readonly number[]) => margins.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return [...store.load(GREEDY).values()]
    .filter((g) => g.answer.margins.length > 0 && lab.wants(g.request))
    .toSorted((a, b) => smallest(a.answer.margins) - smallest(b.answer.margins))
    .slice(0, count)
    .map((g) => ({ ...g.request, limits: { maxTokens: MAX_TOKENS } }));
}

const equalRows: Claim = {
  id: 'equal-at-once',
  suite: 'determinism',
  statement: 'Equal requests sent at the same moment all get the one answer that they get alone.',
  routes: ['raw'],
  laws: ['batch-invariance'],
  async run(lab): Promise<Outcome> {
    const cases: Compared[] = [];
    for (const request of requests(lab, 'equal', 6)) {
      const truth = await lab.truth(request);
      const row = await settled(Array.from({ length: 8 }, (_, repeat) => lab.run({ request, route: 'raw', mode: lab.mode, repeat })));
      cases.push(...row.map((transcript) => ({ transcript, truth })));
    }
    return compared(lab, equalRows.id, 'batch-invariance', cases, 'answers, 8 equal at once');
  },
};

const order: Claim = {
  id: 'any-order',
  suite: 'determinism',
  statement: 'The order in which requests come does not change an answer.',
  routes: ['raw', 'ensemble'],
  laws: ['same-ids', 'same-text'],
  async run(lab): Promise<Outcome> {
    const routes = lab.served(['raw', 'ensemble']);
    if (routes.length === 0) return notServed(lab.parts.notServed.get('raw')!);
    const cases: Compared[] = [];
    for (const route of routes) {
      const asked = requests(lab, 'order', 12);
      const truths = new Map(await inParallel(asked, 1, async (r) => [r.id, await lab.truthOn(r, route)] as const));
      for (const request of lab.plan.rng(`order-${route}`).shuffle(asked)) {
        cases.push({ transcript: await lab.run({ request, route, mode: lab.mode, repeat: 1 }), truth: truths.get(request.id)! });
      }
    }
    return compared(lab, order.id, 'same-ids', cases, 'answers in another order');
  },
};

const restart: Claim = {
  id: 'after-a-restart',
  suite: 'determinism',
  statement: 'A server started anew gives the same answers.',
  routes: ['raw', 'ensemble'],
  laws: ['same-ids', 'same-text'],
  ordinaryOnly: true,
  deadlineMs: 120_000,
  async run(lab): Promise<Outcome> {
    if (lab.parts.restart === undefined) return notServed('this run did not start the target, so it may not restart it');
    const asked = requests(lab, 'restart', 16);
    const routes: readonly RouteId[] = lab.served(['raw', 'ensemble']);
    const truths = await inParallel(asked, 1, (r) => lab.truth(r));
    await using again = await lab.parts.restart();
    const cases: Compared[] = [];
    for (const route of routes) {
      for (const [i, request] of asked.entries())
        cases.push({ transcript: await again.lab.run({ request, route, mode: lab.mode, repeat: 0 }), truth: truths[i]! });
    }
    return compared(lab, restart.id, 'same-ids', cases, 'answers of a second start');
  },
};

export const CLAIMS: readonly Claim[] = [
  inFlight,
  repeated,
  neighbours,
  nearTies,
  equalRows,
  beyondTheSlots,
  order,
  coldWarm,
  restart,
  seeds,
  byItself,
];
