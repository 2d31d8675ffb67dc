import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IDEAL_PROFILE, profileOf } from '#core/profile/index.ts';
import { decodeBytesElements, fp32Values } from '#wire/protocol/tensors.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Listening } from '../http/index.ts';
import { type TestCore, testCore } from '../http/test-core.ts';
import { startOpenAiServer } from './index.ts';

/** Only what the front end uses: the template of docs/observed.md#openai-front-end-r25-12. */
const tokenizer = {
  bosId: 1,
  eosId: 2,
  tokenText: (id: number) => ['<|pad|>', '<|bos|>', '<|eos|>'][id],
  applyChatTemplate: (messages) => `<|bos|>${messages.map((m) => `<|${m.role}|>${m.content}\n`).join('')}<|assistant|>`,
} satisfies Partial<Tokenizer> as unknown as Tokenizer;

let test_: TestCore;
let server: Listening;
let client: OpenAI;

beforeAll(async () => {
  test_ = testCore();
  server = await startOpenAiServer({ core: test_.core, tokenizer, host: '127.0.0.1', port: 0 });
  client = new OpenAI({ baseURL: `http://127.0.0.1:${server.port}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await server.close();
  test_[Symbol.dispose]();
});

const JSON_TYPE = { 'Content-Type': 'application/json' };

async function post(path: string, body: unknown, at = server) {
  const response = await fetch(`http://127.0.0.1:${at.port}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: JSON_TYPE,
  });
  return { status: response.status, body: await response.text() };
}

const completion = (prompt: string, more: object = {}) => ({ model: 'flat', prompt, ...more });
const chat = (content: string, more: object = {}) => ({ model: 'flat', messages: [{ role: 'user', content }], ...more });

/** Ids and times replaced, everything else as it came. */
function masked(text: string): string {
  return text
    .replace(/cmpl-[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'ID')
    .replace(/"created":\d{10}/g, '"created":T');
}

function inputs(): Record<string, unknown> {
  const request = test_.seen.at(-1);
  return Object.fromEntries(
    [...(request?.inputs.values() ?? [])].map((t) => {
      const data = Buffer.from(t.data);
      const value =
        t.datatype === 'BYTES'
          ? decodeBytesElements(t.data).map(String)
          : t.datatype === 'FP32'
            ? [...fp32Values(t.data)]
            : t.datatype === 'INT32'
              ? [data.readInt32LE()]
              : t.datatype === 'UINT64'
                ? [data.readBigUInt64LE()]
                : [...data];
      return [t.name, [t.datatype, t.shape, value]];
    }),
  );
}

describe('tensors', () => {
  test('a completion with only model and prompt sends ten inputs', async () => {
    await post('/v1/completions', completion('one-final'));
    expect(inputs()).toEqual({
      text_input: ['BYTES', [1, 1], ['one-final']],
      stream: ['BOOL', [1, 1], [0]],
      max_tokens: ['INT32', [1, 1], [16]],
      top_p: ['FP32', [1, 1], [1]],
      frequency_penalty: ['FP32', [1, 1], [0]],
      presence_penalty: ['FP32', [1, 1], [0]],
      temperature: ['FP32', [1, 1], [1]],
      exclude_input_in_output: ['BOOL', [1, 1], [1]],
      return_num_input_tokens: ['BOOL', [1, 1], [1]],
      return_num_output_tokens: ['BOOL', [1, 1], [1]],
    });
    expect(test_.seen.at(-1)).toMatchObject({ id: '', parameters: new Map() });
  });

  test('chat keeps the BOS text, sends temperature 0.7 and no switch for the prompt', async () => {
    await post('/v1/chat/completions', chat('one-final'));
    const seen = inputs();
    expect(Object.keys(seen)).toHaveLength(9);
    expect(seen['text_input']).toEqual(['BYTES', [1, 1], ['<|bos|><|user|>one-final\n<|assistant|>']]);
    expect(seen['temperature']).toEqual(['FP32', [1, 1], [0.699999988079071]]);
    expect(seen).not.toHaveProperty('exclude_input_in_output');
  });

  test.each([
    [
      { temperature: 0, top_p: 0 },
      { temperature: [0], top_p: [0] },
    ],
    [
      { temperature: null, top_p: null },
      { temperature: undefined, top_p: undefined },
    ],
    [{ seed: -1 }, { seed: [18446744073709551615n] }],
    [{ seed: '7' }, { seed: [7n] }],
    [{ stop: 'X' }, { stop_words: ['X'] }],
    [{ stop: ['a', 'b'] }, { stop_words: ['a', 'b'] }],
    [{ stop: '' }, { stop_words: undefined }],
    [{ max_tokens: null }, { max_tokens: [16] }],
    [{ max_tokens: 0 }, { max_tokens: [0] }],
    [{ max_tokens: 2147483648 }, { max_tokens: [-2147483648] }],
    [{ max_tokens: 5.0 }, { max_tokens: [5] }],
    [{ echo: true }, { exclude_input_in_output: [0] }],
    [{ echo: null }, { exclude_input_in_output: undefined }],
  ])('%j', async (fields, expected) => {
    await post('/v1/completions', completion('one-final', fields));
    const seen = inputs();
    for (const [name, value] of Object.entries(expected)) expect((seen[name] as unknown[] | undefined)?.[2], name).toEqual(value);
  });

  test('max_completion_tokens wins over max_tokens in chat', async () => {
    await post('/v1/chat/completions', chat('one-final', { max_tokens: 3, max_completion_tokens: 4 }));
    expect(inputs()['max_tokens']).toEqual(['INT32', [1, 1], [4]]);
  });

  test('content parts reach the template as Python prints them', async () => {
    await post('/v1/chat/completions', { model: 'flat', messages: [{ role: 'user', content: [{ type: 'text', text: "it's" }] }] });
    expect(inputs()['text_input']).toEqual(['BYTES', [1, 1], [`<|bos|><|user|>[{'type': 'text', 'text': "it's"}]\n<|assistant|>`]]);
  });
});

describe('whole answers', () => {
  test('are those of the real front end', async () => {
    const text = await post('/v1/completions', completion('one-final'));
    expect([text.status, masked(text.body)]).toEqual([
      200,
      '{"id":"ID","choices":[{"finish_reason":"stop","index":0,"logprobs":null,"text":"Hello"}],"created":T,"model":"flat","system_fingerprint":null,"object":"text_completion","usage":{"prompt_tokens":7,"total_tokens":8,"completion_tokens":1}}',
    ]);
    const message = await post('/v1/chat/completions', chat('one-final'));
    expect([message.status, masked(message.body)]).toEqual([
      200,
      '{"id":"ID","choices":[{"finish_reason":"stop","index":0,"message":{"content":"Hello","tool_calls":null,"role":"assistant","function_call":null},"logprobs":null}],"created":T,"model":"flat","system_fingerprint":null,"object":"chat.completion","usage":{"prompt_tokens":7,"total_tokens":8,"completion_tokens":1}}',
    ]);
  });

  test.each([
    ['one-then-flag', 'Hello'],
    ['two-final', 'Hel'],
    ['nothing', ''],
    ['nul', 'A'],
    ['unicode', 'é\u2028"\u001f'],
  ])('%s gives %j', async (script, text) => {
    expect(JSON.parse((await post('/v1/completions', completion(script))).body)).toMatchObject({
      choices: [{ text, finish_reason: 'stop' }],
    });
  });

  test.each([
    ['three', 500, '{"detail":"Unexpected number of responses: 3, expected 1 or 2."}'],
    ['two-strings', 500, '{"detail":"Expected to find 1 string in the output, found 2 instead."}'],
    ['not-utf8', 500, `{"detail":"'utf-8' codec can't decode byte 0xff in position 1: invalid start byte"}`],
    [
      'error-first',
      500,
      `{"detail":"('scripted model error', InferenceResponse(model={'name': 'flat', 'version': 1, 'state': None}, request_id='', parameters={}, outputs={}, error=InvalidArgumentError(...), classification_label=None, final=True))"}`,
    ],
    [
      'error-quoted',
      500,
      `{"detail":"(\\"it's broken\\", InferenceResponse(model={'name': 'flat', 'version': 1, 'state': None}, request_id='', parameters={}, outputs={}, error=InvalidArgumentError(...), classification_label=None, final=True))"}`,
    ],
  ])('%s is %i', async (script, status, body) => {
    expect(await post('/v1/completions', completion(script))).toEqual({ status, body });
  });

  test('what Triton refuses before execution is its plain text, streamed or not', async () => {
    for (const stream of [false, true]) {
      const { status, body } = await post('/v1/completions', { model: 'echo', prompt: 'x', stream });
      expect(status).toBe(500);
      expect(body).toMatch(
        /^{"detail":"(unexpected inference input '\w+' for model 'echo'|\[request id: <id_unknown>\] expected number of inputs between 1 and 3 but got 9 inputs)/,
      );
    }
  });
});

describe('streams', () => {
  test('each chat event is its own chunk, byte for byte', async () => {
    const raw = await rawPost('/v1/chat/completions', chat('three', { stream: true, stream_options: { include_usage: true } }));
    const [head, ...rest] = raw.split('\r\n\r\n');
    expect(head).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\nserver: uvicorn\r\ncontent-type: text\/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\nConnection: close$/,
    );
    const event = (delta: string, finish: string) =>
      `data: {"id":"ID","choices":[{"delta":${delta},"logprobs":null,"finish_reason":${finish},"index":0}],"created":T,"model":"flat","system_fingerprint":null,"object":"chat.completion.chunk","usage":null}\n\n`;
    expect(chunks(rest.join('\r\n\r\n')).map(masked)).toEqual([
      event('{"content":"","function_call":null,"role":"assistant"}', 'null'),
      event('{"content":"Hel","function_call":null,"role":null}', 'null'),
      event('{"content":"lo","function_call":null,"role":null}', 'null'),
      event('{"content":"","function_call":null,"role":null}', '"stop"'),
      'data: {"id":"ID","choices":[],"created":T,"model":"flat","system_fingerprint":null,"object":"chat.completion.chunk","usage":{"prompt_tokens":7,"total_tokens":10,"completion_tokens":3}}\n\n',
      'data: [DONE]\n\n',
      '',
    ]);
  });

  test.each([
    ['two-final', ['Hel:null', 'lo:stop']],
    ['two-then-flag', ['Hel:null', 'lo:null', ':stop']],
    ['nothing', [':stop']],
    ['one-final', ['Hello:stop']],
  ])('%s', async (script, expected) => {
    const { body } = await post('/v1/completions', completion(script, { stream: true }));
    const events = body.split('\n\n').filter((line) => line !== '');
    expect(events.at(-1)).toBe('data: [DONE]');
    const seen = events
      .slice(0, -1)
      .map((line) => (JSON.parse(line.slice(6)) as { choices: { text: string; finish_reason: string | null }[] }).choices[0]);
    expect(seen.map((choice) => `${choice?.text}:${choice?.finish_reason}`)).toEqual(expected);
  });

  test.each([
    ['error-first', 0],
    ['error-middle', 1],
    ['not-utf8', 0],
  ])('%s cuts the connection after %i events, without the last chunk', async (script, events) => {
    const raw = await rawPost('/v1/completions', completion(script, { stream: true }));
    expect(raw).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(raw.match(/data: /g) ?? []).toHaveLength(events);
    expect(raw.endsWith('0\r\n\r\n')).toBe(false);
  });

  test('headers and role event come before the first token', async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(chat('gated-from-start', { stream: true })),
      headers: JSON_TYPE,
    });
    // The model has said nothing, and will not before it is let.
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('"role":"assistant"');
    for (const request = test_.seen.at(-1)!; !test_.ended.includes(request); await sleep(2)) test_.proceed();
  });

  test('a client that goes away does not stop the model, unless the profile says so', async () => {
    const leave = async (at: Listening) => {
      const abort = new AbortController();
      const response = await fetch(`http://127.0.0.1:${at.port}/v1/completions`, {
        method: 'POST',
        body: JSON.stringify(completion('gated-after-one', { stream: true })),
        headers: JSON_TYPE,
        signal: abort.signal,
      });
      await response.body?.getReader().read();
      abort.abort();
      // The end of the connection is there before this is asked.
      await fetch(`http://127.0.0.1:${at.port}/health/ready`);
    };
    await leave(server);
    const request = test_.seen.at(-1)!;
    while (!test_.ended.includes(request)) {
      test_.proceed();
      await sleep(2);
    }
    expect(request.isCancelled()).toBe(false);
    using ideal = testCore(IDEAL_PROFILE);
    await using other = await startOpenAiServer({ core: ideal.core, tokenizer, host: '127.0.0.1', port: 0 });
    await leave(other);
    await expect.poll(() => ideal.seen.at(-1)?.isCancelled()).toBe(true);
    ideal.proceed();
  });
});

// docs/observed.md#openai-front-end-r25-12, Disconnect: in r24.11 and main, single models and ensembles, streamed or not.
describe('a client that is not there', () => {
  const chunked = (script: string, stream: boolean) => {
    const json = JSON.stringify(completion(script, { stream }));
    return `POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
  };
  const connected = async (script: string, stream: boolean, at = server) => {
    const socket = connect(at.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(chunked(script, stream));
    return socket;
  };

  test.each([
    ['closes', true],
    ['resets', true],
    ['closes', false],
    ['resets', false],
  ] as const)('%s with stream %j, and the model runs to its end', async (how, stream) => {
    const before = test_.seen.length;
    const socket = await connected('slow', stream);
    await expect.poll(() => test_.seen.length).toBe(before + 1);
    if (how === 'closes') socket.destroy();
    else socket.resetAndDestroy();
    await expect.poll(() => test_.ended).toContain(test_.seen[before]);
    expect(test_.seen[before]?.isCancelled()).toBe(false);
  });

  test('says that it has said all, and gets no further event', async () => {
    const socket = await connected('gated-after-one', true);
    let seen = '';
    socket.on('data', (data) => (seen += data.toString()));
    await expect.poll(() => seen).toContain('"text":"A"');
    socket.end();
    await fetch(`http://127.0.0.1:${server.port}/health/ready`);
    const request = test_.seen.at(-1)!;
    while (!test_.ended.includes(request)) {
      test_.proceed();
      await sleep(2);
    }
    await sleep(20);
    expect(seen).not.toContain('"text":"C"');
    expect(seen).not.toContain('[DONE]');
    expect(request?.isCancelled()).toBe(false);
  });

  test('reads nothing for a while: the model is not held up, and everything arrives later', async () => {
    const socket = await connected('flood', true);
    socket.pause();
    await expect.poll(() => test_.seen.at(-1)).toBeDefined();
    const request = test_.seen.at(-1);
    await expect.poll(() => test_.ended, { timeout: 5000 }).toContain(request);
    let seen = '';
    socket.on('data', (data) => (seen += data.toString()));
    socket.resume();
    await expect.poll(() => seen.includes('[DONE]'), { timeout: 5000 }).toBe(true);
    expect([...seen.matchAll(/"text":"(\d+),/g)].map((m) => Number(m[1]))).toEqual(Array.from({ length: 4000 }, (_, i) => i));
    socket.destroy();
  });
});

// docs/observed.md#openai-front-end-by-release, r26.04; what the bodies say is in real-releases.cases.json.
describe('loads and unloads', () => {
  const explicit = async (made: TestCore) =>
    startOpenAiServer({ core: made.core, tokenizer, host: '127.0.0.1', port: 0, settings: { modelControl: 'explicit' } });
  const ready = async (at: Listening) => (await fetch(`http://127.0.0.1:${at.port}/health/ready`)).status;

  test('a stream in flight runs to its end after the unload, and until then the server is not ready', async () => {
    using made = testCore(profileOf('openai=r26.04'));
    await using at = await explicit(made);
    const streamed = post('/v1/completions', completion('slow', { stream: true }), at);
    await expect.poll(() => made.seen.length).toBe(1);
    expect(await post('/v1/models/flat/unload', '', at)).toEqual({ status: 200, body: '{"status":"success","model":"flat"}' });
    expect(await ready(at)).toBe(400);
    expect(await post('/v1/completions', completion('one-final'), at)).toEqual({ status: 400, body: '{"detail":"Unknown model: flat"}' });
    expect((await streamed).body).toContain('[DONE]');
    await expect.poll(() => ready(at)).toBe(200);
  });

  test('a model that cannot start is 400, and the server is not ready from then on', async () => {
    using made = testCore(profileOf('openai=r26.04'));
    await using at = await explicit(made);
    expect(await ready(at)).toBe(200);
    made.addBroken();
    const { status, body } = await post('/v1/models/broken/load', '', at);
    expect(status).toBe(400);
    expect(body).toMatch(/^{"detail":"Failed to load model 'broken': load failed for model 'broken': version 1 is at UNAVAILABLE state: /);
    expect(await ready(at)).toBe(400);
  });
});

// Bodies: docs/observed.md#openai-front-end-r25-12, table of refusals; the 422 bodies are in request-schema.test.ts.
describe('refusals', () => {
  test.each([
    ['/v1/completions', { model: 'nope', prompt: 'x' }, 400, 'Unknown model: nope'],
    ['/v1/completions', completion('x', { n: 2 }), 400, 'Received n=2, but only single choice (n=1) is currently supported'],
    [
      '/v1/completions',
      completion('x', { best_of: 2 }),
      400,
      'Received best_of=2, but only single choice (best_of=1) is currently supported',
    ],
    ['/v1/completions', completion('x', { logit_bias: {} }), 400, 'logit bias is not supported'],
    ['/v1/chat/completions', chat('x', { logit_bias: {} }), 400, 'logit bias is not currently supported'],
    ['/v1/completions', completion('x', { logprobs: 1 }), 400, 'logprobs are currently available only for the vLLM backend'],
    ['/v1/chat/completions', chat('x', { top_logprobs: 0 }), 400, 'logprobs are currently available only for the vLLM backend'],
    ['/v1/completions', completion('x', { suffix: '' }), 400, 'suffix is not currently supported'],
    ['/v1/completions', completion(''), 400, 'prompt must be non-empty'],
    ['/v1/completions', { model: 'flat', prompt: ['x'] }, 400, 'only single string input is supported'],
    ['/v1/completions', completion('x', { stream_options: {} }), 400, '`stream_options` can only be used when `stream` is True'],
    [
      '/v1/chat/completions',
      chat('x', { tools: [{ type: 'function', function: { name: 'f' } }] }),
      400,
      'having tools in the request requires --tool-call-parser to be set',
    ],
    [
      '/v1/chat/completions',
      chat('x', { tool_choice: 'required' }),
      400,
      '"required" tool choice requires CreateChatCompletionRequest.tools to be provided',
    ],
    [
      '/v1/chat/completions',
      { model: 'flat', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y' } }] }] },
      400,
      'only text message is supported, but got image_url',
    ],
    ['/v1/embeddings', { model: 'flat', input: 'x' }, 400, 'TRT-LLM backend and Python backend do not support embedding requests'],
    ['/v1/responses', {}, 404, 'Not Found'],
  ])('%s %j is %i', async (path, body, status, detail) => {
    expect(await post(path, body)).toEqual({ status, body: JSON.stringify({ detail }) });
  });

  test('a wrong method is 405 with allow, a trailing slash 307', async () => {
    const wrong = await fetch(`http://127.0.0.1:${server.port}/v1/completions`);
    expect([wrong.status, wrong.headers.get('allow'), await wrong.text()]).toEqual([405, 'POST', '{"detail":"Method Not Allowed"}']);
    const slash = await fetch(`http://127.0.0.1:${server.port}/v1/completions/?a=b`, { method: 'POST', redirect: 'manual' });
    expect([slash.status, slash.headers.get('location'), await slash.text()]).toEqual([
      307,
      `http://127.0.0.1:${server.port}/v1/completions?a=b`,
      '',
    ]);
  });

  test('health, metrics and models', async () => {
    const health = await fetch(`http://127.0.0.1:${server.port}/health/ready`);
    expect([health.status, health.headers.get('content-type'), await health.text()]).toEqual([200, null, '']);
    const metrics = await fetch(`http://127.0.0.1:${server.port}/metrics`);
    expect(metrics.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const one = await fetch(`http://127.0.0.1:${server.port}/v1/models/nope`);
    expect([one.status, await one.text()]).toEqual([404, '{"detail":"Unknown model: nope"}']);
    const list = await fetch(`http://127.0.0.1:${server.port}/v1/models`);
    expect(masked(await list.text())).toBe(
      '{"object":"list","data":[{"id":"echo","created":T,"object":"model","owned_by":"Triton Inference Server"},{"id":"flat","created":T,"object":"model","owned_by":"Triton Inference Server"},{"id":"half","created":T,"object":"model","owned_by":"Triton Inference Server"}]}',
    );
  });
});

describe('the official client', () => {
  test('lists and retrieves models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(['echo', 'flat', 'half']);
    expect((await client.models.retrieve('flat')).owned_by).toBe('Triton Inference Server');
  });

  test('streams a completion', async () => {
    let text = '';
    for await (const part of await client.completions.create({ model: 'flat', prompt: 'three', stream: true }))
      text += part.choices[0]?.text ?? '';
    expect(text).toBe('Hello');
  });

  test('streams a chat and gets its usage', async () => {
    let text = '';
    let total = 0;
    const stream = await client.chat.completions.create({
      model: 'flat',
      messages: [{ role: 'user', content: 'three' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const part of stream) {
      text += part.choices[0]?.delta.content ?? '';
      total = part.usage?.total_tokens ?? total;
    }
    expect([text, total]).toEqual(['Hello', 10]);
  });

  test('reads a refusal', async () => {
    await expect(client.completions.create({ model: 'nope', prompt: 'x' })).rejects.toMatchObject({ status: 400 });
  });
});

test('in front of a model that is not decoupled a stream is one event with the whole text', async () => {
  using whole = testCore(undefined, '', false);
  await using other = await startOpenAiServer({ core: whole.core, tokenizer, host: '127.0.0.1', port: 0 });
  const event = (choice: string, object: string) =>
    `data: {"id":"ID","choices":[${choice}],"created":T,"model":"flat","system_fingerprint":null,"object":"${object}","usage":null}\n\n`;
  const text = await post('/v1/completions', completion('one-final', { stream: true }), other);
  expect({ ...text, body: masked(text.body) }).toEqual({
    status: 200,
    body: `${event('{"finish_reason":"stop","index":0,"logprobs":null,"text":"Hello"}', 'text_completion')}data: [DONE]\n\n`,
  });
  const said = await post('/v1/chat/completions', chat('one-final', { stream: true }), other);
  expect(masked(said.body)).toBe(
    [
      event(
        '{"delta":{"content":"","function_call":null,"role":"assistant"},"logprobs":null,"finish_reason":null,"index":0}',
        'chat.completion.chunk',
      ),
      event(
        '{"delta":{"content":"Hello","function_call":null,"role":null},"logprobs":null,"finish_reason":"stop","index":0}',
        'chat.completion.chunk',
      ),
      'data: [DONE]\n\n',
    ].join(''),
  );
});

describe('the ideal profile', () => {
  test('drops the BOS text, excludes the prompt, says length', async () => {
    using ideal = testCore(IDEAL_PROFILE);
    await using other = await startOpenAiServer({ core: ideal.core, tokenizer, host: '127.0.0.1', port: 0 });
    const { body } = await post('/v1/chat/completions', chat('one-final', { max_tokens: 1 }), other);
    expect(JSON.parse(body)).toMatchObject({ choices: [{ finish_reason: 'length' }] });
    const seen = ideal.seen.at(-1)?.inputs;
    expect(String(decodeBytesElements(seen?.get('text_input')?.data ?? new Uint8Array(0))[0])).toBe('<|user|>one-final\n<|assistant|>');
    expect(seen?.get('exclude_input_in_output')?.data[0]).toBe(1);
    const longer = await post('/v1/completions', completion('three', { stream: true, max_tokens: 4 }), other);
    expect(longer.body).toContain('"finish_reason":"stop"');
  });
});

describe('faults', () => {
  async function with_(fault: string, path: string, body: object, base: TestCore = test_): Promise<string> {
    await using faulty = await startOpenAiServer({ core: base.core, tokenizer, host: '127.0.0.1', port: 0, faults: new Set([fault]) });
    return await rawPost(path, body, faulty);
  }

  test('openai-frontend-empty-content', async () => {
    expect(await with_('openai-frontend-empty-content', '/v1/chat/completions', chat('one-final'))).toContain('"message":{"content":""');
  });
  test('usage-null-trtllm', async () => {
    expect(await with_('usage-null-trtllm', '/v1/completions', completion('one-final'))).toContain('"usage":null}');
    expect(inputs()).not.toHaveProperty('return_num_input_tokens');
  });
  test('sse-client-needs-done', async () => {
    expect(await with_('sse-client-needs-done', '/v1/completions', completion('three', { stream: true }))).not.toContain('[DONE]');
  });
  test('openai-default-max-tokens-16', async () => {
    await with_('openai-default-max-tokens-16', '/v1/completions', completion('one-final', { max_tokens: 64 }));
    expect(inputs()['max_tokens']).toEqual(['INT32', [1, 1], [16]]);
  });
  test('harmony-tokens-leak', async () => {
    expect(await with_('harmony-tokens-leak', '/v1/chat/completions', chat('one-final'))).toContain('"content":"Hello<|eos|>"');
  });
  test('no-end-marker-in-sse', async () => {
    const raw = await with_('no-end-marker-in-sse', '/v1/completions', completion('three', { stream: true }));
    expect([raw.includes('[DONE]'), raw.endsWith('0\r\n\r\n')]).toEqual([true, false]);
  });
  test('double-bos-templated-prompt, under the ideal profile', async () => {
    using ideal = testCore(IDEAL_PROFILE);
    await with_('double-bos-templated-prompt', '/v1/chat/completions', chat('one-final'), ideal);
    expect(String(decodeBytesElements(ideal.seen.at(-1)?.inputs.get('text_input')?.data ?? new Uint8Array(0))[0])).toMatch(/^<\|bos\|>/);
  });
});

/** All bytes of the answer, the connection closed by the server. */
function rawPost(path: string, body: object, at = server): Promise<string> {
  const json = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const socket = connect(at.port, '127.0.0.1', () =>
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
      ),
    );
    let out = '';
    socket.on('data', (data) => (out += data.toString('utf8')));
    socket.on('end', () => {
      socket.destroy();
      resolve(out);
    });
    socket.on('error', reject);
  });
}

/** The chunks of a chunked body, the empty last one too. */
function chunks(body: string): string[] {
  const out: string[] = [];
  let bytes = Buffer.from(body, 'utf8');
  while (bytes.length > 0) {
    const end = bytes.indexOf('\r\n');
    const length = Number.parseInt(bytes.toString('latin1', 0, end), 16);
    out.push(bytes.toString('utf8', end + 2, end + 2 + length));
    bytes = bytes.subarray(end + 2 + length + 2);
  }
  return out;
}
