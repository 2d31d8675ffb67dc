/** Who gets to know that a client no longer waits for its one answer (docs/observed.md#triton-2-51, #model-repository-1-x). */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { pollUntil } from '#core/deadline/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import { COUNT, ensemble, int32, raw } from './requests.ts';
import { PlainGrpc, http, inferMessage } from './wire.ts';

interface Leaving {
  readonly name: string;
  /** Asks for an answer of so many tokens; settles when the client has its reply, or has left. */
  readonly send: (lab: Lab, tokens: number, signal: AbortSignal) => Promise<string>;
  /** Whether the engine is told. */
  readonly reaches: (profile: ReleaseProfile) => boolean;
}

const PROMPT = [0, 4, 508, 270, 439, 19, 5];

async function infer(lab: Lab, model: string, tokens: number, signal: AbortSignal): Promise<string> {
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
  const request =
    model === 'tensorrt_llm' ? raw(PROMPT, tokens) : { ...ensemble(COUNT, tokens, [int32('min_tokens', [1, 1], [tokens])]), model };
  return (await client.call('ModelInfer', inferMessage(request), lab.parts.deadlineMs, signal)).code;
}

async function generate(lab: Lab, model: string, tokens: number, signal: AbortSignal): Promise<string> {
  const body =
    model === 'tensorrt_llm'
      ? { input_ids: PROMPT, input_lengths: PROMPT.length, request_output_len: tokens }
      : { text_input: COUNT, max_tokens: tokens, min_tokens: tokens };
  const call = { path: `/v2/models/${model}/generate`, body, deadlineMs: lab.parts.deadlineMs, signal };
  return http(lab.parts.endpoints, call).then(
    ({ status }) => String(status),
    () => 'CANCELLED',
  );
}

const BLS = 'tensorrt_llm_bls';
const ensembleTells = ({ core }: ReleaseProfile) => core.ensembleCancelReachesRunningStep.value;
const blsTells = ({ models }: ReleaseProfile) => models.bls.passesCancel.value;
/** A model that sends one response has sent none before its end: only a front end that looks at the connection itself sees the close. */
const closeSeen = ({ core }: ReleaseProfile) => core.httpCloseSeenWhileSilent.value;

const LEAVINGS: readonly Leaving[] = [
  { name: 'a cancelled ModelInfer of raw', send: (lab, n, s) => infer(lab, 'tensorrt_llm', n, s), reaches: () => true },
  { name: 'a cancelled ModelInfer of the ensemble', send: (lab, n, s) => infer(lab, 'ensemble', n, s), reaches: ensembleTells },
  { name: 'a cancelled ModelInfer of the BLS', send: (lab, n, s) => infer(lab, BLS, n, s), reaches: blsTells },
  { name: 'a closed generate of raw', send: (lab, n, s) => generate(lab, 'tensorrt_llm', n, s), reaches: closeSeen },
  {
    name: 'a closed generate of the ensemble',
    send: (lab, n, s) => generate(lab, 'ensemble', n, s),
    reaches: (p) => closeSeen(p) && ensembleTells(p),
  },
  { name: 'a closed generate of the BLS', send: (lab, n, s) => generate(lab, BLS, n, s), reaches: (p) => closeSeen(p) && blsTells(p) },
];

/** On a busy machine an answer may be over before its client has left. */
const TRIES = 3;

export const unaryCancel: Claim = {
  id: 'unary-cancel',
  suite: 'protocol',
  statement: 'Without the decoupled policy a cancelled ModelInfer stops the engine behind raw alone; who closes generate is not noticed.',
  routes: ['raw', 'ensemble', 'bls', 'generate'],
  laws: ['as-observed', 'cancel-frees'],
  deadlineMs: 60_000,
  async run(lab): Promise<Outcome> {
    if (lab.parts.decoupled) return notServed('the repository is decoupled, so unary calls are refused');
    if ((await readGauges(lab)) === undefined) return notServed('no nv_trt_llm_* metrics, so nothing is known about the engine');
    const tokens = lab.parts.budget.longTokens;
    const failures: Failure[] = [];
    let n = 0;
    for (const leaving of LEAVINGS) {
      for (let i = 0; i < TRIES; i++) {
        const seen = await leave(lab, leaving, tokens);
        if (seen === 'over') continue;
        n++;
        if (seen !== undefined)
          failures.push({
            law: 'as-observed',
            code: 'differs-from-table',
            text: `${leaving.name}: ${seen}`,
            replay: replayOf(lab, unaryCancel.id),
          });
        break;
      }
    }
    return structural(n, 'clients that left', failures, { notes: n < LEAVINGS.length ? [`${LEAVINGS.length - n} left too late`] : [] });
  },
};

/** What was wrong; `over` when the answer was all but whole before its client left. */
async function leave(lab: Lab, { send, reaches }: Leaving, tokens: number): Promise<string | undefined> {
  const start = await untilIdle(lab);
  const left = new AbortController();
  const reply = send(lab, tokens, left.signal);
  const running = pollUntil({ ms: lab.parts.deadlineMs, everyMs: 1, what: 'the engine to work on the request' }, async () => {
    const gauges = await readGauges(lab);
    return gauges !== undefined && gauges.iteration > start.iteration ? gauges : undefined;
  });
  const first = await Promise.race([running, reply]);
  if (typeof first === 'string') return `the answer was ${first} before its client left`;
  const atLeave = first.iteration - start.iteration;
  left.abort();
  const code = await reply;
  const after = await untilIdle(lab, 30_000);
  const steps = after.iteration - start.iteration;
  if (atLeave >= tokens * 0.7 || code !== 'CANCELLED') return 'over';
  if (after.blocksUsed !== 0) return `${after.blocksUsed} KV blocks are still in use`;
  const stopped = steps < tokens * 0.9;
  if (stopped === reaches(lab.profile)) return undefined;
  return `${steps} steps for ${tokens} tokens, ${steps - atLeave} of them after the client had left; expected the engine to ${stopped ? 'go on to its end' : 'stop'}`;
}
