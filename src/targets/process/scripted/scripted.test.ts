/** What models may do that no stock model does, and what becomes of a model that is unloaded: alike on both servers. */
import { type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wallClockMs } from '#core/clock/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import type { ModelStreamInferResponse } from '#wire/protocol/grpc-messages.ts';
import { GrpcInferenceClient, UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';
import { bytesTensor, decodeBytesElements } from '#wire/protocol/tensors.ts';
import { startTritonServer } from '../index.ts';
import { startScriptedEmbedded } from './embedded.ts';
import { type ScriptedRepository, scriptedRepository, type Step } from './repository.ts';

interface Server extends AsyncDisposable {
  readonly endpoints: { readonly grpc: string; readonly http: string };
}

const REAL = process.env['LOCKSTEP_REAL'] === '1';
const SERVERS = [
  { name: 'the embedded server', start: startScriptedEmbedded, real: false },
  { name: 'a real tritonserver', start: (repository: string) => startTritonServer({ repository }) as Promise<Server>, real: true },
].filter(({ real }) => REAL || !real);

/** `text`, `!error`, `flag`, each with F when final; version in front where it is not 1. */
const RESPONSES: readonly { readonly name: string; readonly script: readonly Step[]; readonly seen: string; readonly asked?: string }[] = [
  { name: 'FINAL on the last data', script: [{ text: 'a' }, { text: 'b', final: true }], seen: 'a b.F' },
  { name: 'data, then the flag alone', script: [{ text: 'a' }, { text: 'b' }, { final: true }], seen: 'a b', asked: 'a b flag.F' },
  { name: 'the flag alone', script: [{ final: true }], seen: '', asked: 'flag.F' },
  { name: 'an error in the middle', script: [{ text: 'a' }, { error: 'boom' }, { text: 'b', final: true }], seen: 'a !boom b.F' },
  { name: 'an error with FINAL', script: [{ text: 'a' }, { error: 'boom', final: true }], seen: 'a !boom.F' },
  {
    name: 'text and error in one response',
    script: [
      { text: 'a', error: 'boom' },
      { text: 'b', final: true },
    ],
    seen: '!boom b.F',
  },
  { name: 'text and error in one response with FINAL', script: [{ text: 'a', error: 'boom', final: true }], seen: '!boom.F' },
  { name: 'text behind FINAL', script: [{ text: 'a', final: true }, { text: 'b' }], seen: 'a.F' },
  {
    name: 'text behind FINAL, later',
    script: [
      { text: 'a', final: true },
      { waitMs: 20, text: 'b' },
    ],
    seen: 'a.F',
  },
  {
    name: 'a second FINAL',
    script: [
      { text: 'a', final: true },
      { text: 'b', final: true },
    ],
    seen: 'a.F',
  },
  {
    name: 'an error behind FINAL',
    script: [
      { text: 'a', final: true },
      { error: 'late', final: true },
    ],
    seen: 'a.F',
  },
  { name: 'the flag behind FINAL', script: [{ text: 'a', final: true }, { final: true }], seen: 'a.F' },
];

const KEEPS_OPEN: readonly Step[] = [{ waitMs: 60, final: true }];

describe.each(SERVERS)('$name', { timeout: 60_000 }, ({ start, real }) => {
  let repository: ScriptedRepository;
  let server: Server;
  // grpc-js builds its methods at run time.
  let client: any;

  beforeAll(async () => {
    repository = scriptedRepository();
    server = await start(repository.path);
    client = new GrpcInferenceClient(server.endpoints.grpc, credentials.createInsecure(), UNLIMITED_MESSAGES);
  }, 900_000);
  afterAll(async () => {
    client.close();
    await server[Symbol.asyncDispose]();
    repository[Symbol.dispose]();
  }, 60_000);

  const open = (path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' };
    return fetch(`http://${server.endpoints.http}/v2/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const post = async (path: string, body: object = {}) => {
    const reply = await open(path, body);
    return { status: reply.status, text: await reply.text() };
  };
  const control = (model: string, action: 'load' | 'unload') => post(`repository/models/${model}/${action}`);
  const ready = async () => (await fetch(`http://${server.endpoints.http}/v2/health/ready`)).status;
  const state = async (model: string) => {
    const index = JSON.parse((await post('repository/index')).text) as readonly Record<string, string>[];
    const { name: _, ...entry } = index.find(({ name }) => name === model) ?? {};
    return entry;
  };
  const rpc = (name: string, request: object): Promise<any> => {
    const { promise, resolve, reject } = Promise.withResolvers<any>();
    client[name](request, { deadline: wallClockMs() + 30_000 }, (error: unknown, reply: unknown) =>
      error === null ? resolve(reply) : reject(error),
    );
    return promise;
  };
  const requestOf = (id: string, script: readonly Step[], asksForEnd: boolean) => ({
    model_name: 'script',
    id,
    parameters: asksForEnd ? { triton_enable_empty_final_response: { bool_param: true } } : {},
    inputs: [{ name: 'SCRIPT', datatype: 'BYTES', shape: [1] }],
    raw_input_contents: [bytesTensor('SCRIPT', [1], [JSON.stringify(script)]).data],
  });
  const play = (script: readonly Step[], asksForEnd = false) => {
    const call = client.ModelStreamInfer({ deadline: wallClockMs() + 10_000 }) as ClientDuplexStream<unknown, ModelStreamInferResponse>;
    call.write(requestOf('q', script, asksForEnd));
    // Keeps the stream open, so that what comes behind FINAL could be seen.
    call.write(requestOf('keeper', KEEPS_OPEN, false));
    call.end();
    return call;
  };

  test.concurrent.each(RESPONSES)('$name', async ({ script, seen, asked = seen }) => {
    expect(await Promise.all([spelt(play(script)), spelt(play(script, true))])).toEqual([seen, asked]);
  });

  test.each([
    [
      'generate',
      [
        { text: 'a', error: 'boom' },
        { text: 'b', final: true },
      ],
      400,
      /^\{"error":"generate expects model to produce exactly 1 response/,
    ],
    [
      'generate_stream',
      [
        { text: 'a', error: 'boom' },
        { text: 'b', final: true },
      ],
      400,
      /^data: \{"error":"boom"\}\n\ndata: \{"TEXT":"b",[^\n]*\}\n\n$/,
    ],
    ['generate', [{ text: 'a', final: true }, { text: 'b' }], 200, /^\{"TEXT":"a","model_name":"script","model_version":"1"\}$/],
    ['generate_stream', [{ text: 'a', final: true }, { text: 'b' }], 200, /^data: \{"TEXT":"a",[^\n]*\}\n\n$/],
    ['generate', [{ text: 'a' }, { error: 'boom' }, { text: 'b', final: true }], 200, /^\{"error":"generate expects model/],
    [
      'generate_stream',
      [{ text: 'a' }, { error: 'boom' }, { text: 'b', final: true }],
      200,
      /"TEXT":"a".*\n\ndata: \{"error":"boom"\}\n\n.*"TEXT":"b"/,
    ],
  ])('%s of %j', async (verb, script, status, text) => {
    const reply = await post(`models/script/${verb}`, { SCRIPT: JSON.stringify(script) });
    expect(reply).toEqual({ status, text: expect.stringMatching(text) });
  });

  test('an unload returns at once, lets the stream in flight end, and is not ready until it has', async () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${i}`);
    const script = [...texts.map((text): Step => ({ waitMs: real ? 50 : 15, text })), { final: true }];
    // Its headers come with its first event.
    const running = await open('models/script/generate_stream', { SCRIPT: JSON.stringify(script) });
    let ended = false;
    const whole = running.text().finally(() => (ended = true));
    expect(await control('script', 'unload')).toEqual({ status: 200, text: '' });
    expect(await state('script')).toEqual({ version: '1', state: 'UNLOADING' });
    expect(await ready()).toBe(400);
    expect(await post('models/script/generate', { SCRIPT: '[]' })).toEqual({
      status: 404,
      text: `{"error":"Request for unknown model: 'script' has no available versions"}`,
    });
    expect(ended).toBe(false);
    expect((await whole).match(/(?<="TEXT":")\d+/g)).toEqual(texts);
    await pollUntil({ ms: 10_000, everyMs: 5, what: 'the model to be gone' }, async () =>
      (await state('script'))['state'] === 'UNAVAILABLE' ? true : undefined,
    );
    expect(await state('script')).toEqual({ version: '1', state: 'UNAVAILABLE', reason: 'unloaded' });
    expect(await ready()).toBe(200);
    expect(await control('script', 'load')).toEqual({ status: 200, text: '' });
    expect(await spelt(play([{ text: 'back', final: true }]))).toBe('back.F');
  });

  test('a model that cannot start leaves the server not ready', async () => {
    repository.add('broken', 'broken');
    const { status, text } = await control('broken', 'load');
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatch(
      /^load failed for model 'broken': version 1 is at UNAVAILABLE state: Internal: RuntimeError: no such thing\n\nAt:\n {2}\/.*model\.py\(4\): initialize\n;\n$/,
    );
    expect(await state('broken')).toMatchObject({ state: 'UNAVAILABLE', reason: expect.stringContaining('no such thing') });
    expect(await ready()).toBe(400);
    expect(await spelt(play([{ text: 'still', final: true }]))).toBe('still.F');
    expect(await control('broken', 'unload')).toEqual({ status: 200, text: '' });
    // A name that is not served loses nothing by it, not even the reason.
    expect(await state('broken')).toMatchObject({ state: 'UNAVAILABLE', reason: expect.stringContaining('no such thing') });
    expect(await ready()).toBe(400);
  });

  // Hundreds of megabytes are copied: part of npm run test:processes.
  test.runIf(REAL)('a request of 80 MB over gRPC, one of 64 MiB over HTTP and an answer of 8 MiB come whole', async () => {
    const padded = (bytes: number): readonly Step[] => [{ pad: 'x'.repeat(bytes) }, { text: 'a', final: true }];
    expect(await spelt(play(padded(80_000_000)))).toBe('a.F');
    const { status, text } = await post('models/script/generate', { SCRIPT: JSON.stringify(padded(64 * 1024 * 1024)) });
    expect([status, text]).toEqual([200, '{"TEXT":"a","model_name":"script","model_version":"1"}']);
    const long = 'y'.repeat(8 * 1024 * 1024);
    expect((await spelt(play([{ text: long, final: true }]))) === `${long}.F`).toBe(true);
  });

  // The embedded server's models are part of the program: nothing of them takes time to load.
  test.runIf(real)('loads run beside each other; an unload waits for the load of the same model, and for no other', async () => {
    repository.add('slow', 'slow');
    repository.add('slower', 'slow');
    // Over gRPC: an HTTP thread that loads answers nobody else.
    const load = (model: string) => rpc('RepositoryModelLoad', { model_name: model });
    const unload = (model: string) => rpc('RepositoryModelUnload', { model_name: model });
    const states = async () =>
      (await rpc('RepositoryIndex', {})).models.map((m: { name: string; state: string }) => `${m.name} ${m.state}`);
    const loads = [load('slow'), load('slower')];
    await pollUntil({ ms: 5_000, everyMs: 5, what: 'both to load' }, async () => {
      const now = await states();
      return now.includes('slow LOADING') && now.includes('slower LOADING') ? true : undefined;
    });
    expect(await rpc('ServerReady', {})).toEqual({ ready: false });
    const [afterOther, afterSame] = await Promise.all([unload('script').then(states), unload('slow').then(states), ...loads]);
    expect(afterOther).toContain('slow LOADING');
    expect(afterSame).not.toContain('slow LOADING');
    expect(await states()).toContain('slower READY');
  });
});

async function spelt(call: ClientDuplexStream<unknown, ModelStreamInferResponse>): Promise<string> {
  const out: string[] = [];
  for await (const { error_message: error, infer_response: r } of call) {
    expect([r?.id, r?.model_name]).toEqual(['q', 'script']);
    const [text] = decodeBytesElements(r?.raw_output_contents[0] ?? new Uint8Array());
    // Errors and flags alone come with the version that was asked for, data with the one that answered.
    expect(r?.model_version).toBe(text === undefined ? '' : '1');
    const what = error === '' ? (text === undefined ? 'flag' : Buffer.from(text).toString()) : `!${error}`;
    out.push(r?.parameters['triton_final_response']?.bool_param === true ? `${what}.F` : what);
  }
  return out.join(' ');
}
