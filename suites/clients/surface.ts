/** Everything of the clients that is no answer: what they read of a server, what they set, and how they report a refusal. */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { int32Values } from '#wire/protocol/tensors.ts';
import { matches, show } from '../protocol/expectations.ts';
import { type Driver, type Line, type Step, runDriver } from './driver.ts';
import { GRPC, grpcRows, HTTP, openAiRows, QUERY, type Row, TO_IDS, TO_IDS_UNFINISHED } from './surface-rows.ts';
import { tensorOf } from './transcripts.ts';

function table(id: string, driver: Driver, statement: string, given: readonly Row[] | ((lab: Lab) => readonly Row[])): Claim {
  return {
    id,
    suite: 'clients',
    statement,
    routes: [],
    laws: ['as-observed'],
    deadlineMs: 600_000,
    async run(lab): Promise<Outcome> {
      const url = urlOf(lab, driver);
      if (url === undefined) return notServed('the target has no OpenAI front end');
      const rows = typeof given === 'function' ? given(lab) : given;
      const steps = rows.map((r) => r.step);
      const lines = await runDriver(lab, driver, url, steps, driver === 'triton_grpc_aio' ? { lanes: 1 } : {});
      const failures = rows.flatMap((row, i) => {
        const text = differs(row, lines[i]!);
        return text === undefined ? [] : [failure(id, `${row.name}: ${text}`)];
      });
      return structural(rows.length, 'exchanges as observed', failures);
    },
  };
}

export function urlOf(lab: Lab, driver: Driver): string | undefined {
  const { grpc, http, openai } = lab.parts.endpoints;
  if (driver === 'triton_http') return http;
  return driver === 'openai_sdk' || driver === 'openai-node' ? openai : grpc;
}

function failure(id: string, text: string) {
  return { law: 'as-observed', code: 'differs-from-table', text, replay: `npm run test:clients -- -t ${id}` };
}

function differs({ result, raises }: Row, lines: readonly Line[]): string | undefined {
  const last = lines.findLast((l) => l.kind === 'result' || l.kind === 'error');
  if (last === undefined) return 'the client gave nothing';
  if (raises === undefined)
    return last.kind === 'result' && matches(last.result, result)
      ? undefined
      : `expected ${show(result)}, got ${show(last.result ?? last)}`;
  const { kind, exception, code, message, detail } = last;
  return kind === 'error' && matches({ exception, code, message, detail }, raises)
    ? undefined
    : `expected ${show(raises)}, got ${show(last)}`;
}

const SETTLES_WITHIN_S = 0.3;
/** By as many clients more, each of which takes longer than that to start. */
const READINGS = 5;

/** The counters that a client reads around requests of its own. */
const statistics: Claim = {
  id: 'triton-grpc-statistics',
  suite: 'clients',
  statement: 'tritonclient.grpc: statistics count the requests that the client made between two readings, no more and no fewer.',
  routes: [],
  laws: ['conservation'],
  deadlineMs: 600_000,
  async run(lab): Promise<Outcome> {
    const read: Step = { operation: 'call', method: 'get_inference_statistics', arguments: { model_name: 'preprocessing', as_json: true } };
    const good: Step = { operation: 'infer', request: TO_IDS, arguments: {} };
    const bad: Step = { operation: 'infer', request: TO_IDS_UNFINISHED, arguments: {} };
    // Other clients run beside this one, and their requests count as well.
    if (lab.parts.restart === undefined) return notServed('needs a server that nobody else uses');
    await using own = await lab.parts.restart();
    const run = (steps: readonly Step[]) => runDriver(own.lab, 'triton_grpc', own.lab.parts.endpoints.grpc, steps);
    const lines = await run([read, good, good, bad, good, good, good, { operation: 'wait', seconds: SETTLES_WITHIN_S }, read]);
    const before = counted(lines[0]!);
    let after = counted(lines.at(-1)!);
    // A server counts a request when it lets go of it, which may be a moment after its answer was read.
    for (let again = 0; again < READINGS && after.successes - before.successes < 5; again++) after = counted((await run([read]))[0]!);
    const seen = { inferences: after.inferences - before.inferences, successes: after.successes - before.successes };
    const failures = matches(seen, { inferences: 5, successes: 5 })
      ? []
      : [
          {
            ...failure(statistics.id, `five requests succeeded and one was refused, the client reads ${show(seen)} more`),
            law: 'conservation',
          },
        ];
    return structural(5, 'requests counted', failures);
  },
};

interface Counted {
  readonly inferences: number;
  readonly successes: number;
}

/** protobuf's JSON leaves zeros out and writes 64-bit numbers as texts. */
function counted(lines: readonly Line[]): Counted {
  const { model_stats: all } = (lines.at(-1)?.result ?? {}) as {
    model_stats?: { inference_count?: string; inference_stats?: { success?: { count?: string } } }[];
  };
  const [stats] = all ?? [];
  return { inferences: Number(stats?.inference_count ?? 0), successes: Number(stats?.inference_stats?.success?.count ?? 0) };
}

/** A tensor that goes in through a region and comes back through it. */
const sharedMemory: Claim = {
  id: 'triton-grpc-shared-memory',
  suite: 'clients',
  statement: 'tritonclient.grpc: ids of a text that lies in system shared memory come back through it, and the region can be given up.',
  routes: [],
  laws: ['as-observed', 'prompt-ids'],
  deadlineMs: 600_000,
  async run(lab): Promise<Outcome> {
    const region = `lockstep_${process.pid}`;
    const step: Step = {
      operation: 'shared-memory',
      request: TO_IDS,
      region,
      output: 'INPUT_ID',
      size: 256,
    };
    const [lines = []] = await runDriver(lab, 'triton_grpc', lab.parts.endpoints.grpc, [step]);
    const [registered, left] = lines.filter((l) => l.kind === 'result').map((l) => l.result);
    const failures = [];
    if (!matches(registered, { regions: { [region]: { name: region, key: `/${region}`, byte_size: '512' } } }))
      failures.push(failure(sharedMemory.id, `the region is registered as ${show(registered ?? lines.at(-1))}`));
    if (!matches(left, { regions: undefined })) failures.push(failure(sharedMemory.id, `after it was given up: ${show(left)}`));
    const output = lines.find((l) => l.kind === 'response')?.outputs?.[0];
    const ids = output === undefined ? [] : Array.from(int32Values(tensorOf(output).data));
    const right = lab.tokenizer.encode(QUERY, { addSpecialTokens: true });
    if (!matches(ids, right))
      failures.push({ ...failure(sharedMemory.id, `the ids are ${show(ids)}, expected ${show(right)}`), law: 'prompt-ids' });
    return structural(ids.length, 'ids through shared memory', failures);
  },
};

export const SURFACE: readonly Claim[] = [
  table(
    'triton-grpc-calls',
    'triton_grpc',
    'tritonclient.grpc: what it reads and sets of a server, and its exceptions, are as observed.',
    GRPC,
  ),
  table('triton-aio-calls', 'triton_grpc_aio', 'tritonclient.grpc.aio: what it reads and sets of a server is as observed.', grpcRows()),
  table(
    'triton-http-calls',
    'triton_http',
    'tritonclient.http: what it reads and sets of a server, and its exceptions, are as observed.',
    HTTP,
  ),
  statistics,
  sharedMemory,
  table(
    'openai-python-calls',
    'openai_sdk',
    'openai for Python: the list of models and the classes of refusals are as observed.',
    openAiRows,
  ),
  table('openai-node-calls', 'openai-node', 'openai for Node: the list of models and the classes of refusals are as observed.', openAiRows),
];
