import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { ids, type ServeUnderTest, serveUnderTest } from './testing.ts';

let server: ServeUnderTest;
beforeAll(async () => {
  server = await serveUnderTest({ release: '1.1', models: '1.2', maxNumTokens: 64 });
});
afterAll(() => server[Symbol.asyncDispose]());

const url = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const says = (...texts: readonly string[]) => ({ ids: ids(server.tokenizer, ...texts) });
const post = (body: object, path = '/v1/completions') =>
  fetch(url(path), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** What arrives on a socket, with the times of arrival. */
class Wire {
  readonly socket: Socket;
  readonly arrivals: { readonly ms: number; readonly text: string }[] = [];
  readonly closed: Promise<void>;
  constructor(port: number, body: object, path = '/v1/completions') {
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
    const startNs = nowNs();
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(head + text));
    this.socket.on('data', (data) => this.arrivals.push({ ms: (nowNs() - startNs) / 1e6, text: data.toString('latin1') }));
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()));
  }
  get text(): string {
    return this.arrivals.map((arrival) => arrival.text).join('');
  }
  async until(part: string): Promise<number> {
    for (let i = 0; i < 500 && !this.text.includes(part); i++) await sleep(2);
    return (
      this.arrivals.find((_, i) =>
        this.arrivals
          .slice(0, i + 1)
          .map((a) => a.text)
          .join('')
          .includes(part),
      )?.ms ?? Number.NaN
    );
  }
}

describe('headers and chunks', () => {
  test('headers of whole answers and of streams, in their order', async () => {
    server.play(says('a'));
    const whole = new Wire(server.port, { model: 'm', prompt: 'p' });
    await whole.closed;
    expect(whole.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: [^\r]+ GMT\r\nserver: uvicorn\r\ncontent-length: \d+\r\ncontent-type: application\/json\r\nConnection: close\r\n\r\n\{/,
    );
    const stream = new Wire(server.port, { model: 'm', prompt: 'p', stream: true });
    await stream.closed;
    expect(stream.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: [^\r]+ GMT\r\nserver: uvicorn\r\ncontent-type: text\/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n/,
    );
  });

  test('each event is a chunk; headers leave before the first token, the role does not', async () => {
    server.play({ ...says('a'), delaysMs: [120] });
    const wire = new Wire(server.port, { model: 'm', messages: [{ role: 'user', content: 'p' }], stream: true }, '/v1/chat/completions');
    const [headers, role] = [await wire.until('\r\n\r\n'), await wire.until('"role"')];
    await wire.closed;
    expect(role - headers).toBeGreaterThan(80);
    const body = wire.text.slice(wire.text.indexOf('\r\n\r\n') + 4);
    const events = [...body.matchAll(/([0-9a-f]+)\r\n(data: [\s\S]*?\n\n)\r\n/g)];
    expect(events.map(([, size, event]) => Number.parseInt(size!, 16) === event!.length)).toEqual([true, true, true, true]);
    expect(body.endsWith('0\r\n\r\n')).toBe(true);
  });

  test('every chunk of 1.1 has an id of its own', async () => {
    server.play(says('a', 'b', 'c'));
    const text = await (await post({ model: 'm', prompt: 'p', stream: true })).text();
    const seen = [...text.matchAll(/"id":"(cmpl-[0-9a-f]{32})"/g)].map(([, id]) => id);
    expect(seen).toHaveLength(4);
    expect(new Set(seen).size).toBe(4);
  });
});

test('what the engine is asked for when nothing is said, and when temperature is 0', async () => {
  server.play(says('a'));
  const before = server.requests.length;
  await post({ model: 'm', prompt: 'p' });
  await post({ model: 'm', messages: [{ role: 'user', content: 'p' }], temperature: 0, seed: -1 }, '/v1/chat/completions');
  const [bare, greedy] = server.requests.slice(before);
  // 128 positions less the prompt's two.
  expect(bare).toMatchObject({ maxTokens: 126, endId: 2, minTokens: 0, stopWords: [], sampling: { temperature: 1, topP: 1 } });
  expect(bare!.sampling.topK).toBeUndefined();
  expect(greedy).toMatchObject({ sampling: { topK: 1, seed: 0xffffffffffffffffn } });
});

test('penalties reach the engine by the sampler that applies them', async () => {
  const body = { model: 'm', prompt: 'p', presence_penalty: 1, repetition_penalty: 1.2 };
  const asked = async (one: ServeUnderTest) => {
    await fetch(`http://127.0.0.1:${one.port}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return one.requests.at(-1)!.sampling;
  };
  await using other = await serveUnderTest({ release: '1.1', models: '1.1' });
  expect((await asked(server)).presencePenalty).toBeUndefined();
  expect(await asked(other)).toMatchObject({ presencePenalty: 1, repetitionPenalty: 1.2 });
});

describe('several prompts', () => {
  test('one stream of interleaved chunks, a usage chunk for each, one end', async () => {
    server.play(says('a', 'b'));
    const text = await (await post({ model: 'm', prompt: ['p', 'pq'], stream: true, stream_options: { include_usage: true } })).text();
    expect([...text.matchAll(/"index":(\d)/g)].map(([, index]) => index)).toEqual(['0', '1', '0', '1', '0', '1']);
    expect([...text.matchAll(/"choices":\[\],"usage":\{"prompt_tokens":(\d)/g)].map(([, n]) => n)).toEqual(['2', '3']);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
  });

  test('each prompt has its own id in 1.3rc', async () => {
    await using later = await serveUnderTest({ release: '1.3rc', models: '1.2' });
    later.play(says('a'));
    const text = await (
      await fetch(`http://127.0.0.1:${later.port}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', prompt: ['p', 'q'], stream: true }),
      })
    ).text();
    expect(new Set([...text.matchAll(/"id":"(cmpl-\d+)".*?"index":(\d)/g)].map(([, id, index]) => `${index} ${id}`))).toEqual(
      new Set(['0 cmpl-1', '1 cmpl-2']),
    );
  });

  const oneFails = (request: { readonly promptIds: ArrayLike<number> }) =>
    request.promptIds.length > 2 ? { ids: [], error: 'boom' } : says('a');

  test.each([
    ['first', ['pq', 'p']],
    ['last', ['p', 'pq']],
  ])('one that fails, the %s of them, cuts the stream when the others have ended', async (_, prompt) => {
    server.play(oneFails);
    const wire = new Wire(server.port, { model: 'm', prompt, stream: true });
    await wire.closed;
    expect(wire.text).toContain('"finish_reason":"stop"');
    expect(wire.text).not.toMatch(/\[DONE\]|\r\n0\r\n/);
  });

  test('fault serve-waits-for-failed-prompt: the others end, the stream never does', async () => {
    await using waiting = await serveUnderTest({ release: '1.1', models: '1.1', faults: new Set(['serve-waits-for-failed-prompt']) });
    waiting.play(oneFails);
    const wire = new Wire(waiting.port, { model: 'm', prompt: ['p', 'pq'], stream: true });
    await wire.until('"finish_reason":"stop"');
    await sleep(100);
    expect(wire.text).not.toContain('[DONE]');
    expect(wire.socket.readyState).toBe('open');
    wire.socket.destroy();
  });
});

describe('errors', () => {
  test('of the engine: 400 with its text, or a cut before and after the first token', async () => {
    server.play({ ids: [], error: 'boom' });
    const whole = await post({ model: 'm', prompt: 'p' });
    expect([whole.status, await whole.json()]).toEqual([
      400,
      { object: 'error', message: 'boom', type: 'BadRequestError', param: null, code: 400 },
    ]);
    const wire = new Wire(server.port, { model: 'm', prompt: 'p', stream: true });
    await wire.closed;
    expect(wire.text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\n$/);
    expect(wire.text).not.toMatch(/data:|\r\n0\r\n/);
  });

  test('a prompt beyond max_num_tokens is refused before a stream begins', async () => {
    for (const stream of [false, true]) {
      const refused = await post({ model: 'm', prompt: 'a'.repeat(70), stream });
      expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
        400,
        'The sum of prompt length (71.0), query length (0) should not exceed max_num_tokens (64)',
      ]);
    }
  });

  test('bodies that are no JSON by their type or their bytes', async () => {
    const typed = async (type: string, body: string | Uint8Array<ArrayBuffer>) => {
      const refused = await fetch(url('/v1/completions'), { method: 'POST', headers: { 'content-type': type }, body });
      return [refused.status, refused.headers.get('content-type'), await refused.text()];
    };
    expect(await typed('text/plain', '{"model":"m","prompt":"p"}')).toEqual([500, 'text/plain; charset=utf-8', 'Internal Server Error']);
    expect(await typed('application/json', Uint8Array.of(0x22, 0xff, 0x22))).toEqual([
      400,
      'application/json',
      '{"detail":"There was an error parsing the body"}',
    ]);
  });
});

describe('routes', () => {
  test.each([
    ['GET', '/health', 200, null, ''],
    ['GET', '/health_generate', 200, null, 'Generation health check OK'],
    ['GET', '/version', 200, 'application/json', '{"version":"1.1.0"}'],
    [
      'GET',
      '/v1/models',
      200,
      'application/json',
      /^\{"object":"list","data":\[\{"id":"tiny-dir","object":"model","created":\d+,"owned_by":"tensorrt_llm"\}\]\}$/,
    ],
    ['GET', '/v1/models/tiny-dir', 404, 'application/json', '{"detail":"Not Found"}'],
    ['GET', '/metrics', 200, 'application/json', '[]'],
    ['GET', '/perf_metrics', 200, 'application/json', '[]'],
    ['POST', '/kv_cache_events', 200, 'application/json', '[]'],
    ['GET', '/kv_cache_events', 405, 'application/json', '{"detail":"Method Not Allowed"}'],
    ['GET', '/steady_clock_offset', 200, 'application/json', /^\{"receive_ts":[\d.]+,"transmit_ts":[\d.]+\}$/],
    ['GET', '/openapi.json', 200, 'application/json', /"info":\{"title":"FastAPI","version":"0\.1\.0"\}.*"\/v1\/chat\/completions"/],
    ['HEAD', '/health', 405, 'application/json', ''],
    ['POST', '/health', 405, 'application/json', '{"detail":"Method Not Allowed"}'],
    ['OPTIONS', '/v1/completions', 405, 'application/json', '{"detail":"Method Not Allowed"}'],
    ['GET', '/prometheus/metrics', 404, 'application/json', '{"detail":"Not Found"}'],
    ['GET', '/', 404, 'application/json', '{"detail":"Not Found"}'],
    ['GET', '/ping', 404, 'application/json', '{"detail":"Not Found"}'],
    ['POST', '/v1/embeddings', 404, 'application/json', '{"detail":"Not Found"}'],
    ['GET', '/server_info', 404, 'application/json', '{"detail":"Not Found"}'],
  ] as const)('%s %s', async (method, path, status, type, body) => {
    server.play(says('a'));
    const response = await fetch(url(path), { method, redirect: 'manual', headers: { origin: 'http://localhost' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const text = await response.text();
    expect(typeof body === 'string' ? text === body : body.test(text), text).toBe(true);
  });

  test.each([
    ['POST', '/health', 'GET'],
    ['GET', '/kv_cache_events', 'POST'],
    ['OPTIONS', '/v1/completions', 'POST'],
  ])('%s %s allows %s', async (method, path, allowed) => {
    expect((await fetch(url(path), { method })).headers.get('allow')).toBe(allowed);
  });

  test('a slash too many leads to the path without it', async () => {
    const moved = await fetch(url('/v1/completions/'), { method: 'POST', redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([307, url('/v1/completions')]);
  });

  test('the clocks are read 0.2 s apart', async () => {
    const { receive_ts, transmit_ts } = (await (await fetch(url('/steady_clock_offset'))).json()) as Record<string, number>;
    expect(transmit_ts! - receive_ts!).toBeGreaterThan(0.19);
  });
});

describe('a client that goes away', () => {
  /** An answer of 120 tokens that takes four seconds. */
  const slow = { ids: Array.from({ length: 120 }, () => 68), delaysMs: Array.from({ length: 120 }, () => 32) };
  const long = { model: 'm', ignore_eos: true };
  const abortedWith = (prompt: string) => server.aborted().filter(({ request }) => request.promptIds.length === prompt.length + 1);

  /** How long a request lived whose client left; its prompt tells it from others. */
  async function life(body: object, prompt: string, leaveAfterMs: number): Promise<number> {
    const wire = new Wire(server.port, { ...long, prompt, ...body });
    for (let i = 0; i < 1000 && !server.requests.some(({ promptIds }) => promptIds.length === prompt.length + 1); i++) await sleep(2);
    await sleep(leaveAfterMs);
    wire.socket.destroy();
    for (let i = 0; i < 1000 && abortedWith(prompt).length === 0; i++) await sleep(5);
    return abortedWith(prompt)[0]?.afterMs ?? Number.NaN;
  }

  test('is noticed at the next whole second of the life of its request, before the first token too, and not after the end', async () => {
    server.play((request) => (request.promptIds.length > 7 ? says('a') : slow));
    const times = await Promise.all([
      life({}, 'aaa', 300),
      life({ stream: true }, 'aaaa', 300),
      life({ stream: true }, 'aaaaa', 10),
      life({}, 'aaaaaa', 1150),
    ]);
    for (const [i, ms] of times.entries()) {
      const second = i === 3 ? 2000 : 1000;
      expect(ms).toBeGreaterThan(second - 20);
      expect(ms).toBeLessThan(second + 950);
    }
  });

  test('is noticed for each of its prompts, and not at all after the end', async () => {
    server.play((request) => (request.promptIds.length > 10 ? says('a') : slow));
    const wire = new Wire(server.port, { ...long, prompt: ['aaaaaaa', 'aaaaaaaa'] });
    const ended = new Wire(server.port, { model: 'm', prompt: 'aaaaaaaaaa' });
    await ended.closed;
    wire.socket.destroy();
    for (let i = 0; i < 400 && abortedWith('aaaaaaa').length + abortedWith('aaaaaaaa').length < 2; i++) await sleep(5);
    expect(['aaaaaaa', 'aaaaaaaa', 'aaaaaaaaaa'].map((prompt) => abortedWith(prompt).length)).toEqual([1, 1, 0]);
  });
});

describe("OpenAI's own client", () => {
  const client = () => new OpenAI({ baseURL: url('/v1'), apiKey: 'none', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'p' }];

  test('reads completions and chat, whole and streamed', async () => {
    server.play(says('Hello', ' world'));
    const completion = await client().completions.create({ model: 'm', prompt: 'p' });
    expect(completion).toMatchObject({
      choices: [{ text: 'Hello world', finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 3 },
    });
    const chat = await client().chat.completions.create({ model: 'm', messages });
    expect(chat.choices[0]).toMatchObject({ message: { role: 'assistant', content: 'Hello world' }, finish_reason: 'stop' });
    let text = '';
    for await (const chunk of await client().completions.create({ model: 'm', prompt: 'p', stream: true }))
      text += chunk.choices[0]?.text ?? '';
    expect(text).toBe('Hello world');
    const deltas: (string | null | undefined)[] = [];
    let reason: string | null | undefined;
    let total: number | undefined;
    const stream = await client().chat.completions.create({ model: 'm', messages, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
      const choice = chunk.choices[0];
      if (choice !== undefined) deltas.push(choice.delta.content);
      reason = choice?.finish_reason ?? reason;
      total = chunk.usage?.total_tokens ?? total;
    }
    expect([deltas, reason, total]).toEqual([[undefined, 'Hello', ' world', ''], 'stop', 22]);
  });

  test('makes BadRequestError of the error object', async () => {
    const thrown = await client()
      .completions.create({ model: 'm', prompt: 'p', top_p: 1.5 })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(BadRequestError);
    expect(thrown).toMatchObject({
      status: 400,
      code: 400,
      type: 'BadRequestError',
      message: expect.stringContaining('require 0 <= top_p <= 1') as string,
    });
  });

  test('breaks off when a stream is cut', async () => {
    server.play({ ids: [], error: 'boom' });
    const stream = await client().completions.create({ model: 'm', prompt: 'p', stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/terminated|closed|aborted/i);
  });
});
