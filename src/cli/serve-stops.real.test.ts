/** What clients of `lockstep serve` see when it is told to end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { pollUntil, sleep, withDeadline } from '#core/deadline/index.ts';
import { connect as connectTriton, type InferRequest } from '#wire/clients/index.ts';
import { boolTensor, int32Tensor } from '#wire/protocol/tensors.ts';

const PROGRAM = join(import.meta.dirname, 'main.js');
const PORTS = ['grpc', 'http', 'metrics', 'openai'].flatMap((name) => [`--${name}-port`, '0']);
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

// Processes are started and ended here: part of npm run test:processes.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('lockstep serve with streams in flight', { timeout: 60_000 }, () => {
  test.each(SIGNALS)('%s: all ports refuse at once, the streams come to their ends, the exit code is 0', async (signal) => {
    // On a busy machine all of them may have ended before the signal arrives.
    for (let tries = 3; tries > 0; tries--) if (await endsWell(signal)) return;
    expect.unreachable('no stream was running when the signal came');
  });

  test('what is not over a second after the signal is cut, and the exit code is 0 all the same', async () => {
    await using server = await serve();
    // Far more than it computes in that second.
    const queue = grpcStream(server, 400, 400);
    await queue.begun;
    // Waits behind hundreds.
    const events = httpStream(`http://${server.http}/v2/models/ensemble/generate_stream`, GENERATE);
    await sleep(100);
    const sentNs = nowNs();
    server.signal('SIGTERM');
    expect(await Promise.all([queue.end, events.end])).toEqual([expect.stringMatching(/^(UNAVAILABLE|CANCELLED|INTERNAL)/), 'cut']);
    expect(await server.exit()).toEqual([0, null]);
    expect((nowNs() - sentNs) / 1e6).toBeGreaterThan(900);
    expect((nowNs() - sentNs) / 1e6).toBeLessThan(6_000);
    expect(server.living()).toEqual([]);
  });

  test('a second Ctrl-C does not wait', async () => {
    await using server = await serve();
    const queue = grpcStream(server, 400, 400);
    await queue.begun;
    server.signal('SIGINT');
    // Closer together they count as one that came by two ways.
    await sleep(400);
    server.signal('SIGINT');
    expect(await server.exit()).toEqual([130, null]);
    await pollUntil({ ms: 6_000, everyMs: 20, what: 'its server to end too' }, () => (server.living().length === 0 ? true : undefined));
    await queue.end;
  });
});

/** Whether streams were running when the signal came, so that there was something to let end. */
async function endsWell(signal: NodeJS.Signals): Promise<boolean> {
  await using server = await serve();
  const streams = [
    grpcStream(server, 1, 250),
    httpStream(`http://${server.http}/v2/models/ensemble/generate_stream`, GENERATE),
    httpStream(`${server.openai}/v1/completions`, COMPLETION),
  ];
  await Promise.all(streams.map(({ begun }) => begun));
  const atSignal = streams.map(({ events }) => events());
  const sentNs = nowNs();
  server.signal(signal);
  for (const address of [server.http, server.metrics, new URL(server.openai).host])
    await pollUntil({ ms: 2_000, everyMs: 2, what: `${address} to refuse` }, async () => ((await takes(address)) ? undefined : true));
  expect(await Promise.all(streams.map(({ end }) => end))).toEqual(streams.map(({ whole }) => whole));
  expect(await server.exit()).toEqual([0, null]);
  expect((nowNs() - sentNs) / 1e6).toBeLessThan(5_000);
  expect(server.living()).toEqual([]);
  return streams.some(({ events }, i) => events() > atSignal[i]!);
}

interface Served extends AsyncDisposable {
  readonly grpc: string;
  readonly http: string;
  readonly metrics: string;
  readonly openai: string;
  /** As a terminal does it: to all processes of the group. */
  signal(signal: NodeJS.Signals): void;
  exit(): Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;
  /** Processes of the group that are still there. */
  living(): readonly number[];
}

async function serve(): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'serve', ...PORTS], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const group = child.pid!;
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  let out = '';
  await withDeadline({ ms: 30_000, what: 'lockstep serve to be ready' }, async () => {
    for await (const text of child.stdout!.setEncoding('utf8')) if ((out += text).includes('ready;')) return;
  });
  const address = (name: string) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(out)![1]!;
  const living = () => {
    try {
      process.kill(-group, 0);
      return [group];
    } catch {
      return [];
    }
  };
  return {
    grpc: address('gRPC'),
    http: new URL(address('HTTP')).host,
    metrics: new URL(address('metrics')).host,
    openai: new URL(address('OpenAI')).origin,
    signal: (signal) => process.kill(-group, signal),
    exit: () => withDeadline({ ms: 20_000, what: 'lockstep serve to end' }, () => gone),
    living,
    [Symbol.asyncDispose]: async () => {
      if (living().length > 0) process.kill(-group, 'SIGKILL');
      await gone;
    },
  };
}

interface Running {
  readonly begun: Promise<void>;
  readonly events: () => number;
  /** How it ended. */
  readonly end: Promise<string>;
  /** How it ends when nobody cuts it. */
  readonly whole: string;
}

/** Several raw requests on one stream. */
function grpcStream({ grpc }: Served, requests: number, tokens: number): Running {
  const begun = Promise.withResolvers<void>();
  let events = 0;
  const read = async (): Promise<string> => {
    await using clients = connectTriton({ grpc, http: grpc, metrics: undefined, openai: undefined });
    await using stream = clients.grpc.openStream({ deadlineMs: 30_000 });
    for (let i = 0; i < requests; i++) void stream.send(rawRequest(i, tokens)).catch(() => undefined);
    stream.halfClose();
    try {
      for await (const _ of stream.messages) if (events++ === 0) begun.resolve();
    } catch {
      // The status says it.
    }
    const { code } = await stream.status;
    return `${status[code]} ${events}`;
  };
  return { begun: begun.promise, events: () => events, end: read(), whole: `OK ${requests * tokens}` };
}

function rawRequest(i: number, tokens: number): InferRequest {
  return {
    model: 'tensorrt_llm',
    id: `r${i}`,
    inputs: [
      int32Tensor('input_ids', [1, 3], [0, 4, 40 + (i % 100)]),
      int32Tensor('input_lengths', [1, 1], [3]),
      int32Tensor('request_output_len', [1, 1], [tokens]),
      boolTensor('streaming', [1, 1], [true]),
    ],
  };
}

/** A tenth of a second beside the second of grace. */
const TOKENS = 80;
const GENERATE = { text_input: '<|user|>Count from 1 to 9.<|assistant|>', max_tokens: TOKENS, min_tokens: TOKENS, stream: true };
const COMPLETION = { model: 'ensemble', prompt: 'Once upon a time', max_tokens: TOKENS, temperature: 2, seed: 3, stream: true };

function httpStream(url: string, body: object): Running {
  const begun = Promise.withResolvers<void>();
  let events = 0;
  const read = async (): Promise<string> => {
    let text = '';
    try {
      const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      for await (const chunk of reply.body!) {
        text += Buffer.from(chunk).toString();
        events = text.split('\n\n').length - 1;
        begun.resolve();
      }
    } catch {
      begun.resolve();
      return 'cut';
    }
    return url.includes('/v1/') ? text.slice(text.lastIndexOf('data: ')) : `${events} events`;
  };
  return { begun: begun.promise, events: () => events, end: read(), whole: url.includes('/v1/') ? 'data: [DONE]\n\n' : `${TOKENS} events` };
}

function takes(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
