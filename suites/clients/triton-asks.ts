/** How tritonclient and the requests package are told to ask, and what comes back of it. */
import type { Lab } from '#checks/lab/lab.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { ensembleRequest, generateBody } from '#checks/routes/ensemble-request.ts';
import { llmapiRequest } from '#checks/routes/llmapi-request.ts';
import { promptIds, promptText } from '#checks/routes/prompt.ts';
import { rawRequest } from '#checks/routes/raw-request.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Case, Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { InferRequest } from '#wire/clients/index.ts';
import { type Driver, type Line, type Step, runDriver } from './driver.ts';
import { payloadTranscript, tensorLine, tensorTranscript } from './transcripts.ts';
import { type Recorded, contextOf } from './use.ts';

const WAIT_S = 20;
const IN_FLIGHT = 4;
/** Responses after which a client leaves; the answers that it leaves are longer than this. */
export const LEAVE_AFTER = 3;

/** A case as it is sent, and how its record becomes a transcript. */
interface Sent {
  readonly c: Case;
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  transcript(lines: readonly Line[], unary: boolean): Transcript;
}

/** Of every kind of prompt some, whole answers and cut ones. */
export function requests(lab: Lab, label: string, count: number): Request[] {
  return lab.plan
    .draw(`clients:${label}`, lab.count(count))
    .map((p, i) => requestOf(p, { maxTokens: i % 4 === 3 ? 3 : 40 }, i % 4 === 3 ? '-cut' : ''));
}

/** Long answers, to be left in the middle. */
function longRequests(lab: Lab, route: RouteId): Request[] {
  const long = lab.plan.draw('clients:long', lab.count(3, 1), (p) => p.long === true);
  return long.map((p) =>
    requestOf(p, route === 'raw' ? { maxTokens: 200, stopAtEos: false } : { maxTokens: 200, minTokens: 200 }, '-left'),
  );
}

/** Routes through tensors of gRPC. */
type TensorRoute = 'raw' | 'ensemble' | 'bls' | 'bls-accumulate' | 'llmapi';

function inferRequest(lab: Lab, c: Case, id: string, text: string, ids: Int32Array): InferRequest {
  const context = contextOf(lab);
  const options = { deadlineMs: lab.parts.deadlineMs };
  if (c.route === 'raw') return rawRequest(c, id, ids, context, { ...options, logProbs: true, margins: true });
  return c.route === 'llmapi' ? llmapiRequest(c, id, text, context.models.llmapi) : ensembleRequest(c, id, text, context, options);
}

function sentOf(lab: Lab, route: TensorRoute, mode: Case['mode'], request: Request): Sent {
  const c: Case = { request, route, mode, repeat: 0 };
  const id = `${request.id}-${route}`;
  const ids = promptIds(request.prompt, lab.tokenizer);
  const text = promptText(request.prompt, lab.tokenizer);
  const { model, inputs } = inferRequest(lab, c, id, text, ids);
  return {
    c,
    id,
    body: { model, id, inputs: inputs.map(tensorLine) },
    transcript: (lines, unary) => tensorTranscript(c, lines, { id, unary, ...(route === 'raw' ? { ids } : { text }) }),
  };
}

/** The accepted answers first: a server that dies of the client can tell them no more. */
async function recorded(
  lab: Lab,
  sent: readonly Sent[],
  run: () => Promise<readonly Transcript[]>,
  cancelAfter?: number,
): Promise<Recorded> {
  const truths = await inParallel(sent, IN_FLIGHT, ({ c }) => lab.truthOn(c.request, c.route));
  const transcripts = await run();
  return { cases: transcripts.map((transcript, i) => ({ transcript, truth: truths[i], cancelAfter })) };
}

async function asked(lab: Lab, driver: Driver, steps: readonly Step[], more = {}): Promise<readonly (readonly Line[])[]> {
  const { grpc, http } = lab.parts.endpoints;
  return runDriver(lab, driver, driver === 'triton_http' ? http : grpc, steps, more);
}

/** One stream of tritonclient.grpc with several requests in flight: its responses find their request by the id alone. */
export async function grpcStream(lab: Lab, route: TensorRoute): Promise<Recorded> {
  const sent = requests(lab, route, 24).map((r) => sentOf(lab, route, 'stream', r));
  const step = { operation: 'stream', requests: sent.map((s) => s.body), in_flight: IN_FLIGHT, cancel_after: null, wait_s: WAIT_S };
  return recorded(lab, sent, async () => {
    const [lines = []] = await asked(lab, 'triton_grpc', [step]);
    const unnamed = lines.filter((l) => l.kind === 'error' || (l.kind === 'end' && l.request === undefined));
    return sent.map((s) => s.transcript([...lines.filter((l) => l.request === s.id), ...unnamed], false));
  });
}

interface Asking {
  readonly driver: Driver;
  readonly sent: readonly Sent[];
  readonly unary: boolean;
  /** Responses after which the client leaves; absent: it stays to the end. */
  readonly leaveAfter?: number;
  /** What the client is to do with one request. */
  readonly step: (s: Sent, i: number) => Step;
  /** More of the job. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A step of the driver for each request. */
async function eachAsked(lab: Lab, { driver, sent, unary, leaveAfter, step, more }: Asking): Promise<Recorded> {
  const run = async () => {
    const lines = await asked(lab, driver, sent.map(step), more);
    return sent.map((s, i) => s.transcript(lines[i]!, unary));
  };
  return recorded(lab, sent, run, leaveAfter);
}

/** `stop_stream(cancel_requests=True)` after some responses. */
export function grpcCancel(lab: Lab): Promise<Recorded> {
  return eachAsked(lab, {
    driver: 'triton_grpc',
    sent: longRequests(lab, 'raw').map((r) => sentOf(lab, 'raw', 'stream', r)),
    unary: false,
    leaveAfter: LEAVE_AFTER,
    step: ({ body }) => ({ operation: 'stream', requests: [body], in_flight: 1, cancel_after: LEAVE_AFTER, wait_s: WAIT_S }),
  });
}

export function grpcUnary(lab: Lab, route: 'raw' | 'ensemble'): Promise<Recorded> {
  return eachAsked(lab, {
    driver: 'triton_grpc',
    sent: requests(lab, `unary-${route}`, 12).map((r) => sentOf(lab, route, 'unary', r)),
    unary: true,
    step: ({ body }) => ({ operation: 'infer', request: body, arguments: {} }),
  });
}

export function aioStream(lab: Lab, route: 'raw' | 'ensemble'): Promise<Recorded> {
  return eachAsked(lab, {
    driver: 'triton_grpc_aio',
    sent: requests(lab, `aio-${route}`, 24).map((r) => sentOf(lab, route, 'stream', r)),
    unary: false,
    step: ({ body }) => ({ operation: 'stream', request: body, cancel_after: null, wait_s: WAIT_S }),
    more: { lanes: IN_FLIGHT },
  });
}

export function aioCancel(lab: Lab): Promise<Recorded> {
  return eachAsked(lab, {
    driver: 'triton_grpc_aio',
    sent: longRequests(lab, 'raw').map((r) => sentOf(lab, 'raw', 'stream', r)),
    unary: false,
    leaveAfter: LEAVE_AFTER,
    step: ({ body }) => ({ operation: 'stream', request: body, cancel_after: LEAVE_AFTER, wait_s: WAIT_S }),
    more: { lanes: 1 },
  });
}

/** Tensors over HTTP, half of the requests in binary and half in JSON. */
export function httpUnary(lab: Lab, route: 'raw' | 'ensemble'): Promise<Recorded> {
  const outputs = route === 'raw' ? ['output_ids', 'sequence_length', 'generation_logits', 'output_log_probs'] : ['text_output'];
  return eachAsked(lab, {
    driver: 'triton_http',
    sent: requests(lab, `http-${route}`, 12).map((r) => sentOf(lab, route, 'unary', r)),
    unary: true,
    step: ({ body }, i) => ({ operation: 'infer', request: body, binary: i % 2 === 0, outputs }),
  });
}

export function generate(lab: Lab, mode: Case['mode'], leaveAfter?: number): Promise<Recorded> {
  const asking = leaveAfter === undefined ? requests(lab, `generate-${mode}`, 16) : longRequests(lab, 'generate');
  const { models } = contextOf(lab);
  return eachAsked(lab, {
    driver: 'triton_http',
    sent: asking.map((request) => generateSent(lab, { request, route: 'generate', mode, repeat: 0 })),
    unary: mode === 'unary',
    ...(leaveAfter === undefined ? {} : { leaveAfter }),
    step: ({ body }) => ({
      model: models.ensemble,
      body,
      ...(mode === 'stream' ? { operation: 'generate-stream', cancel_after: leaveAfter ?? null } : { operation: 'generate' }),
    }),
  });
}

function generateSent(lab: Lab, c: Case): Sent {
  const text = promptText(c.request.prompt, lab.tokenizer);
  const id = `${c.request.id}-generate`;
  return {
    c,
    id,
    body: generateBody(c, id, text, contextOf(lab), { deadlineMs: lab.parts.deadlineMs }),
    transcript: (lines) => payloadTranscript(c, lines, { id, text }),
  };
}
