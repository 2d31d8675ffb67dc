import { failsUnder } from '#checks/compare/index.ts';
import type { Golden } from '#checks/goldens/index.ts';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { answerOf } from '#checks/laws/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Target } from '#targets/index.ts';
import { type Asked, type Seen, type Verdict, whoDiffers } from './answers.ts';
import { assertSameIdentity } from './identity.ts';

/** Greedy requests on raw (or on the first text route, where there is no raw), fewer on each other route. */
const REQUESTS = 32;
const REQUESTS_OF_OTHER_ROUTES = 8;
const IN_FLIGHT = 4;
const MAX_TOKENS = 48;
/** So few tokens take a second or two on the largest models; a replica that hangs is to be named soon. */
const CASE_DEADLINE_MS = 15_000;
const ROUTES_IN_ORDER: readonly RouteId[] = ['raw', 'ensemble', 'bls', 'bls-accumulate', 'llmapi', 'openai-completions', 'openai-chat'];

/** How many answers all replicas agreed on; what the header of a run says of them. */
export interface Alike {
  readonly addresses: readonly string[];
  readonly answers: number;
}

/**
 * Compares replicas: identity first, then answers, each replica asked the same greedy requests on every route that it
 * serves. The policy of the run says which differences fail.
 *
 * Errors: `replicas-differ` (which replica, where, how it is known), `replica-lost` (which one stopped answering), `interrupted`.
 */
export async function assertReplicasAlike(config: RunConfig, targets: readonly Target[], signal?: AbortSignal): Promise<Alike | undefined> {
  if (targets.length < 2) return undefined;
  const addresses = targets.map(({ endpoints }) => (endpoints.grpc === '' ? (endpoints.openai ?? '') : endpoints.grpc));
  assertSameIdentity(targets.map((target, i) => ({ address: addresses[i] as string, identity: target.identity })));
  await using labs = new AsyncDisposableStack();
  const all: Lab[] = [];
  const part: Part = async (i, work) => {
    try {
      return await work();
    } catch (thrown) {
      throw await whyLost(thrown, targets[i] as Target, addresses[i] as string);
    }
  };
  for (const [i, target] of targets.entries()) {
    const { endpoints, identity } = target;
    const made = labs.use(
      await part(i, () => makeLab({ config, endpoints, identity, health: () => target.health(), deadlineMs: CASE_DEADLINE_MS })),
    );
    made.lab.signal = signal;
    all.push(made.lab);
  }
  const asked = await askAll(all, part);
  const verdict = whoDiffers(asked);
  if (verdict.differing.length > 0) throw differ(addresses, asked.length, verdict);
  return { addresses, answers: asked.length };
}

/** Does the part of a comparison that one replica has to answer; what it throws names that replica. */
type Part = <T>(replica: number, work: () => Promise<T>) => Promise<T>;

/** One that is alive has an error of its own. */
async function whyLost(thrown: unknown, target: Target, address: string): Promise<unknown> {
  const error = LockstepError.from(thrown);
  if (error.code === 'interrupted' || error.code === 'internal') return thrown;
  const { alive, detail } = await target.health();
  if (alive) return thrown;
  return new LockstepError('replica-lost', `${address} stopped answering while the replicas were compared`, {
    hint: 'Look at its log; start it again, or leave it out.',
    context: { last: detail.replace(/^\[deadline\] /, '') },
    cause: thrown,
  });
}

async function askAll(labs: readonly Lab[], part: Part): Promise<Asked[]> {
  const lab = labs[0] as Lab;
  const routes = lab.served(ROUTES_IN_ORDER).filter((route) => labs.every((one) => !one.parts.notServed.has(route)));
  const prompts = lab.plan.draw('replicas', REQUESTS);
  const cases = routes.flatMap((route, i) =>
    prompts
      .slice(0, i === 0 ? REQUESTS : REQUESTS_OF_OTHER_ROUTES)
      .map((p) => ({ route, request: requestOf(p, { maxTokens: MAX_TOKENS }) })),
  );
  const accepted = acceptedBy(lab);
  return inParallel(cases, IN_FLIGHT, ({ route, request }) => ask(labs, route, request, accepted, part));
}

type Accepted = ReadonlyMap<string, Golden>;

function acceptedBy(lab: Lab): Accepted {
  const store = goldenStore(lab.parts);
  return store.list().includes(GREEDY) ? store.load(GREEDY) : new Map();
}

async function ask(labs: readonly Lab[], route: RouteId, request: Request, accepted: Accepted, part: Part): Promise<Asked> {
  const first = labs[0] as Lab;
  const what = `${request.id} on ${route}`;
  const transcripts = await Promise.all(labs.map((lab, i) => part(i, () => lab.observe(request, route, 'unary'))));
  const keys = transcripts.map(keyOf);
  const at = keys.findIndex((key) => key !== keys[0]);
  if (at < 0) {
    const same = await part(0, () => isAccepted(first, transcripts[0] as Transcript, accepted));
    return { what, seen: keys.map((key) => ({ key, asFirst: true, accepted: same })), explained: true, difference: '' };
  }
  const goldens = await part(0, () => Promise.all(transcripts.map((t) => isAccepted(first, t, accepted))));
  const seen = (asFirst: (i: number) => boolean) =>
    keys.map((key, i): Seen => ({ key, asFirst: key === keys[0] || asFirst(i), accepted: goldens[i] }));
  if (first.parts.notServed.has('raw')) {
    const difference = `${show(transcripts[0] as Transcript)} → ${show(transcripts[at] as Transcript)}`;
    return { what, seen: seen(() => false), explained: false, difference };
  }
  const judged = await part(0, async () => {
    const truth = await first.truthOn(request, route);
    return Promise.all(transcripts.map(async (t, i) => (keys[i] === keys[0] ? undefined : first.judge(t, truth))));
  });
  const fails = (i: number) => judged[i] !== undefined && failsUnder(first.policy, judged[i].verdict);
  const failing = judged.find((_, i) => fails(i));
  return { what, seen: seen((i) => !fails(i)), explained: failing === undefined, difference: (failing ?? judged[at])?.text ?? '' };
}

/** Ids where they are served, and the text and the end everywhere; an error is an answer too. */
function keyOf(t: Transcript): string {
  return JSON.stringify([
    t.case.route === 'raw' ? Array.from(t.ids) : t.text,
    t.ending,
    t.errors.map(({ code, message }) => [code, message]),
  ]);
}

function show(t: Transcript): string {
  const [error] = t.errors;
  return error === undefined ? JSON.stringify(t.text.slice(0, 60)) : `${error.code} ${error.message}`;
}

/** As the policy sees it; undefined where no golden is of this very request. */
async function isAccepted(lab: Lab, t: Transcript, accepted: Accepted): Promise<Seen['accepted']> {
  if (t.case.route !== 'raw') return undefined;
  const golden = accepted.get(t.case.request.id);
  if (golden === undefined || canonicalJson(golden.request) !== canonicalJson(t.case.request)) return undefined;
  return answerOf(t, lab.tokenizer) !== undefined && !failsUnder(lab.policy, (await lab.judge(t, golden.answer)).verdict);
}

const HOW = {
  goldens: 'by the accepted answers',
  majority: 'by the others',
  nobody: 'which of them is right, nobody can tell without goldens',
} as const;

function differ(addresses: readonly string[], n: number, verdict: Verdict): LockstepError {
  const { differing, odd, judged, by } = verdict;
  const wrong = by === 'nobody' ? addresses : addresses.filter((_, i) => (odd[i] as number) > 0);
  const who = wrong.join(' and ');
  const [first] = differing;
  const counts = addresses.map((address, i) => [address, `${judged - (odd[i] as number)} of ${judged} as they should be`]);
  return new LockstepError(
    'replicas-differ',
    `${who} ${wrong.length > 1 ? 'differ' : 'differs'} in ${differing.length} of ${n} answers (${HOW[by]})`,
    {
      hint:
        by === 'nobody'
          ? 'Check each one by itself against goldens: lockstep check with one address.'
          : `Take ${who} out of service, and check ${wrong.length > 1 ? 'each' : 'it'} by itself.`,
      context: { first: `${first?.what}: ${first?.difference}`, ...(by === 'nobody' ? {} : Object.fromEntries(counts)) },
    },
  );
}
