/** The clients and routes against the embedded server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import type { LockstepError } from '#core/errors/index.ts';
import { countFlag, FLAG, type Transcript } from '#core/transcript/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { type EmbeddedServer, startEmbeddedServer } from '#embedded/server.ts';
import type { ServerClient } from '#wire/clients/index.ts';
import { boolTensor, bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import { ROUTES } from './index.ts';
import { caseOn, contextOf, TOKENIZER } from './testing.ts';
import type { RouteContext, RunOptions } from './types.ts';

const O = { deadlineMs: 10_000 };
const OPTIONS: RunOptions = O;
const MESSAGES = { kind: 'messages', messages: [{ role: 'user', content: 'Tell me about the sea.' }] } as const;

let server: EmbeddedServer;
let context: RouteContext & AsyncDisposable;

beforeAll(async () => {
  server = await startEmbeddedServer({ ...EMBEDDED_DEFAULTS, profile: 'ideal', stepMs: 2 });
  context = contextOf(server.endpoints);
});
afterAll(async () => {
  await context[Symbol.asyncDispose]();
  await server.close(0);
});

describe.each(['grpc', 'http'] as const)('server client contract: %s', (protocol) => {
  const client = (): ServerClient => context.clients[protocol];

  test('health', async () => {
    expect([
      await client().live(O),
      await client().ready(O),
      await client().modelReady('ensemble', '', O),
      await client().modelReady('nope', '', O),
    ]).toEqual([true, true, true, false]);
  });

  test('metadata of server and model, with shapes as numbers', async () => {
    expect(await client().serverMetadata(O)).toMatchObject({
      name: 'triton',
      version: '2.51.0',
      extensions: expect.arrayContaining(['statistics']),
    });
    const metadata = await client().modelMetadata('tensorrt_llm', '', O);
    expect(metadata).toMatchObject({ name: 'tensorrt_llm', versions: ['1'] });
    expect(metadata.outputs).toContainEqual({ name: 'output_ids', datatype: 'INT32', shape: [-1, -1, -1] });
  });

  test('config, with numbers as numbers', async () => {
    const config = await client().modelConfig('tensorrt_llm', '', O);
    expect(config).toMatchObject({ name: 'tensorrt_llm', max_batch_size: 8, model_transaction_policy: { decoupled: true } });
    expect(config.input.find((i) => i.name === 'input_ids')?.dims).toEqual([-1]);
  });

  test('statistics of one model and of all', async () => {
    const [one] = await client().statistics('ensemble', '', O);
    expect(one).toMatchObject({
      name: 'ensemble',
      version: '1',
      inference_stats: { success: { count: expect.any(Number), ns: expect.any(Number) } },
    });
    expect((await client().statistics('', '', O)).map((s) => s.name).toSorted()).toEqual([
      'ensemble',
      'llmapi',
      'postprocessing',
      'preprocessing',
      'tensorrt_llm',
      'tensorrt_llm_bls',
      'tensorrt_llm_bls_accumulate',
    ]);
  });

  test('repository index', async () => {
    expect(await client().repositoryIndex(O)).toContainEqual({ name: 'ensemble', version: '1', state: 'READY', reason: '' });
  });

  test('trace and log settings', async () => {
    expect((await client().traceSettings('', O))['trace_level']).toEqual(['OFF']);
    expect((await client().updateTraceSettings('', { trace_rate: ['7'] }, O))['trace_rate']).toEqual(['7']);
    expect((await client().updateTraceSettings('', { trace_rate: [] }, O))['trace_rate']).toEqual(['1000']);
    expect(typeof (await client().logSettings(O))['log_info']).toBe('boolean');
    expect((await client().updateLogSettings({ log_verbose_level: 1 }, O))['log_verbose_level']).toBe(1);
  });

  test('shared-memory regions of the system', async () => {
    expect(await client().systemSharedMemory('', O)).toEqual([]);
    expect(await client().cudaSharedMemory('', O)).toEqual([]);
    await client().unregisterSystemSharedMemory('', O);
    await client().unregisterCudaSharedMemory('', O);
  });

  test('what the server refuses carries its text', async () => {
    const error = await client()
      .modelConfig('nope', '', O)
      .catch((thrown: unknown) => thrown as LockstepError);
    expect(error).toMatchObject({
      code: protocol === 'grpc' ? 'grpc-not-found' : 'http-404',
      context: { details: expect.stringContaining("'nope'") },
    });
  });
});

test('gRPC and HTTP say the same about the server', async () => {
  const { grpc, http } = context.clients;
  for (const ask of [
    (c: ServerClient) => c.serverMetadata(O),
    (c: ServerClient) => c.modelMetadata('ensemble', '', O),
    (c: ServerClient) => c.modelConfig('ensemble', '', O),
    (c: ServerClient) => c.modelConfig('tensorrt_llm', '', O),
    (c: ServerClient) => c.repositoryIndex(O),
    (c: ServerClient) => c.traceSettings('', O),
    (c: ServerClient) => c.logSettings(O),
  ]) {
    expect(await ask(grpc)).toEqual(await ask(http));
  }
  expect(await grpc.healthCheck(O)).toBe('SERVING');
});

test('unary inference on a model that is not decoupled, over gRPC and HTTP in both encodings', async () => {
  const request = {
    model: 'postprocessing',
    id: 'post',
    inputs: [
      int32Tensor('TOKENS_BATCH', [1, 1, 3], TOKENIZER.encode('the sea is', { addSpecialTokens: false }).slice(0, 3)),
      int32Tensor('SEQUENCE_LENGTH', [1, 1], [3]),
    ],
  };
  const { grpc, http } = context.clients;
  const [a, b, c] = [
    await grpc.infer(request, O),
    await http.infer(request, { ...O, binary: true }),
    await http.infer(request, { ...O, binary: false }),
  ];
  const bytes = a.outputs.map((o) => [o.name, o.shape, Buffer.from(o.data).toString('hex')]);
  expect(bytes).toHaveLength(1);
  for (const other of [b, c]) expect(other.outputs.map((o) => [o.name, o.shape, Buffer.from(o.data).toString('hex')])).toEqual(bytes);
  expect([a.id, b.id, c.id]).toEqual(['post', 'post', 'post']);
});

test('metrics count what ran', async () => {
  const before = (await context.clients.metrics?.())?.get('nv_inference_request_success', { model: 'ensemble' }) ?? 0;
  await ROUTES.ensemble.run(caseOn('ensemble'), context, OPTIONS);
  const after = (await context.clients.metrics?.())?.get('nv_inference_request_success', { model: 'ensemble' });
  expect(after).toBe(before + 1);
  expect((await context.clients.openai?.models(O))?.map((m) => m.id)).toContain('ensemble');
});

test.each(['text', 'messages'] as const)('every route and mode gives the same answer to a %s prompt', async (kind) => {
  const prompt = kind === 'text' ? ({ kind: 'text', text: 'The sea is' } as const) : MESSAGES;
  const asked = { prompt, limits: { maxTokens: 24 } };
  const truth = await ROUTES.raw.run(caseOn('raw', asked), context, { ...OPTIONS, logProbs: true, margins: true });
  sound(truth);
  expect(truth.margins.length).toBeGreaterThanOrEqual(truth.ids.length);
  expect(truth.logProbs).toHaveLength(truth.ids.length);
  const cases = Object.values(ROUTES).flatMap((route) => route.modes.map((mode) => ({ route, c: caseOn(route.id, { ...asked, mode }) })));
  const carried = cases.filter(({ route, c }) => route.cannotCarry(c) === undefined);
  expect(carried).toHaveLength(kind === 'text' ? 14 : 16);
  for (const { route, c } of carried) {
    const t = await route.run(c, context, OPTIONS);
    sound(t);
    expect([route.id, c.mode, shown(t)]).toEqual([route.id, c.mode, TOKENIZER.decode(truth.ids)]);
    // The LLM API's model counts nothing for its clients.
    const usage = { promptTokens: truth.promptIds?.length, completionTokens: truth.ids.length };
    expect(t.usage).toEqual(route.id === 'llmapi' ? undefined : usage);
    expect(countFlag(t, FLAG.final)).toBe(route.protocol === 'grpc' ? 1 : 0);
    expect(countFlag(t, FLAG.done)).toBe(route.protocol === 'openai' && c.mode === 'stream' ? 1 : 0);
  }
});

test('a sampled answer is the same on every route that can carry it', async () => {
  const asked = {
    prompt: { kind: 'text', text: 'The sea is' },
    sampling: { kind: 'sampled', seed: 7, temperature: 1.3, topP: 0.95 },
    limits: { maxTokens: 16 },
  } as const;
  const texts = new Set<string>();
  for (const route of [ROUTES.raw, ROUTES.ensemble, ROUTES.llmapi, ROUTES.generate, ROUTES['openai-completions']]) {
    const t = await route.run(caseOn(route.id, asked), context, OPTIONS);
    sound(t);
    texts.add(shown(t));
  }
  expect(texts.size).toBe(1);
});

/** The answer as text, whatever the route shows. */
function shown(t: Transcript): string {
  return t.case.route === 'raw' ? TOKENIZER.decode(t.ids) : t.text;
}

test('openai-chat streams its role, its text, its finish and its end', async () => {
  const t = await ROUTES['openai-chat'].run(caseOn('openai-chat', { prompt: MESSAGES, limits: { maxTokens: 8 } }), context, OPTIONS);
  sound(t);
  expect([t.flags[0], t.flags.at(-1)]).toEqual([FLAG.role, FLAG.done]);
  expect(t.finishReasons).toHaveLength(1);
  expect(t.text).not.toBe('');
});

test('stop words end the answer on raw and ensemble alike', async () => {
  const prompt = { kind: 'text', text: 'The sea is' } as const;
  const free = await ROUTES.raw.run(caseOn('raw', { prompt, limits: { maxTokens: 24 } }), context, OPTIONS);
  expect(free.ids.length).toBeGreaterThan(3);
  const limits = { maxTokens: 24, stopWords: [TOKENIZER.decode(free.ids.slice(1, 3))] };
  const raw = await ROUTES.raw.run(caseOn('raw', { prompt, limits }), context, OPTIONS);
  expect([...raw.ids]).toEqual([...free.ids.slice(0, 3)]);
  const ensemble = await ROUTES.ensemble.run(caseOn('ensemble', { prompt, mode: 'unary', limits }), context, OPTIONS);
  expect(ensemble.text).toBe(TOKENIZER.decode(raw.ids));
});

const LONG = { limits: { maxTokens: 400, minTokens: 400 } };

test.each([
  ['leave at once', { how: 'leave', afterEvents: 0 }],
  ['leave after 3 events', { how: 'leave', afterEvents: 3 }],
  ['deadline', { how: 'deadline', ms: 100 }],
] as const)('raw: %s frees the engine', async (_, cancel) => {
  const t = await ROUTES.raw.run(caseOn('raw', LONG), context, { ...OPTIONS, cancel });
  expect(t).toMatchObject({ ending: 'cancelled', errors: [] });
  await engineIdle();
});

test('raw: the stop tensor ends the answer early and with its final flag', async () => {
  const t = await ROUTES.raw.run(caseOn('raw', LONG), context, { ...OPTIONS, cancel: { how: 'stop-tensor', afterEvents: 3 } });
  expect(t).toMatchObject({ ending: 'complete', errors: [], foreignIds: [] });
  expect(t.ids.length).toBeLessThan(400);
  expect(countFlag(t, FLAG.final)).toBe(1);
  await engineIdle();
});

test('many requests on one stream keep their answers apart', async () => {
  const { grpc } = context.clients;
  await using stream = grpc.openStream(O);
  const prompts = ['The sea', 'Red', 'One two', 'Why', 'A bird'];
  const ask = (text: string, id: string) =>
    stream.infer({
      model: 'ensemble',
      id,
      parameters: { triton_enable_empty_final_response: true },
      inputs: [
        bytesTensor('text_input', [1, 1], [text]),
        int32Tensor('max_tokens', [1, 1], [12]),
        boolTensor('stream', [1, 1], [true]),
        boolTensor('exclude_input_in_output', [1, 1], [true]),
      ],
    });
  const alone: string[] = [];
  for (const text of prompts)
    alone.push(
      (await ROUTES.ensemble.run(caseOn('ensemble', { prompt: { kind: 'text', text }, limits: { maxTokens: 12 } }), context, OPTIONS)).text,
    );
  const together = await Promise.all(
    prompts.map(async (text, i) => {
      let out = '';
      for await (const message of ask(text, `p${i}`))
        for (const output of message.outputs) if (output.name === 'text_output') out += Buffer.from(output.data.subarray(4)).toString();
      return out;
    }),
  );
  expect(together).toEqual(alone);
});

function sound(t: Transcript): void {
  expect(t).toMatchObject({ ending: 'complete', errors: [], foreignIds: [] });
  expect(t.events).toBeGreaterThan(0);
}

/** A cancel reaches the engine at a step border; its gauge says when. */
function engineIdle(): Promise<true> {
  return pollUntil({ ms: 5000, what: 'the engine to have no active request', everyMs: 20 }, async () => {
    const active = (await context.clients.metrics?.())?.get('nv_trt_llm_request_metrics', { request_type: 'active' });
    return active === 0 ? true : undefined;
  });
}
