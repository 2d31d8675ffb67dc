import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { IDEAL_PROFILE } from '#core/profile/index.ts';
import type { ModelRequest } from '../core/index.ts';
import { type Listening, startHttpServer } from './index.ts';
import { type TestCore, testCore } from './test-core.ts';

const NOT_ONE =
  '{"error":"generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses"}';

let test_: TestCore;
let server: Listening;

beforeAll(async () => {
  test_ = testCore();
  server = await startHttpServer({ core: test_.core, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  test_[Symbol.dispose]();
});

async function post(kind: 'generate' | 'generate_stream', body: unknown, at = server) {
  const response = await fetch(`http://127.0.0.1:${at.port}/v2/models/flat/${kind}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    chunked: response.headers.get('transfer-encoding'),
    body: await response.text(),
  };
}

const prompt = (script: string) => ({ text_input: script, max_tokens: 5 });
const SSE = 'text/event-stream; charset=utf-8';
const event = (text: string) => `data: {"model_name":"flat","model_version":"1","text_output":"${text}"}\n\n`;

describe('generate', () => {
  test.each(['one-final', 'one-then-flag'])('one response (%s) is one flat object with sorted keys', async (script) => {
    expect(await post('generate', { id: 'gid', ...prompt(script) })).toEqual({
      status: 200,
      type: 'application/json',
      chunked: 'chunked',
      body: '{"id":"gid","model_name":"flat","model_version":"1","text_output":"Hello"}',
    });
  });

  test.each(['three', 'nothing', 'error-middle'])('%s is 200 with the exactly-1-response error', async (script) => {
    expect(await post('generate', prompt(script))).toMatchObject({ status: 200, body: NOT_ONE });
  });

  test('an error as the first response has the status of the error', async () => {
    expect(await post('generate', prompt('error-first'))).toMatchObject({
      status: 400,
      type: 'application/json',
      body: '{"error":"scripted model error"}',
    });
  });

  test('several elements become one flat list', async () => {
    const { body } = await post('generate', prompt('two-strings'));
    expect(body).toBe('{"model_name":"flat","model_version":"1","text_output":["a","b"]}');
  });

  test('only control characters, quote and backslash are escaped', async () => {
    const { body } = await post('generate', prompt('unicode'));
    expect(body).toBe('{"model_name":"flat","model_version":"1","text_output":"é\u2028\\"\\u001F"}');
  });

  test('keys that are no inputs become parameters, nested ones too', async () => {
    await post('generate', { text_input: 'one-final', id: 'x', foo: 'bar', triton_y: true, parameters: { max_tokens: 3, frac: 1.5 } });
    const request = test_.seen.at(-1);
    expect([...(request?.parameters ?? [])]).toEqual([
      ['id', 'x'],
      ['foo', 'bar'],
      ['triton_y', true],
      ['frac', 1.5],
    ]);
    expect(request?.inputs.get('max_tokens')).toMatchObject({ datatype: 'INT32', shape: [1, 1], data: Buffer.from([3, 0, 0, 0]) });
  });

  test('a list fills the innermost free dimension', async () => {
    await post('generate', { ...prompt('one-final'), stop_words: ['a', 'b'] });
    expect(test_.seen.at(-1)?.inputs.get('stop_words')?.shape).toEqual([1, 2]);
  });

  // Texts and statuses: docs/observed.md#triton-2-51, generate table.
  test.each([
    ['{"text_input":"a","max_tokens":"x"}', 500, "Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer"],
    ['{"text_input":"a","max_tokens":1.5}', 500, "Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer"],
    ['{"text_input":"a","max_tokens":null}', 500, "Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer"],
    ['{"text_input":5,"max_tokens":1}', 500, 'Unable to parse JSON bytes array: attempt to access JSON non-string as string'],
    [
      '{"text_input":"a","max_tokens":1,"foo":{}}',
      400,
      "parameter 'foo' has invalid type. It should be either 'int', 'bool', or 'string'.",
    ],
    [
      '{"text_input":"a","max_tokens":1,"foo":[]}',
      400,
      "parameter 'foo' has invalid type. It should be either 'int', 'bool', or 'string'.",
    ],
    ['{"a":}', 500, 'failed to parse the request JSON buffer: Invalid value. at 5'],
    ['', 500, 'failed to parse the request JSON buffer: The document is empty. at 0'],
    ['[]', 500, 'attempt to get members for non-object'],
    ['{"parameters":5}', 500, "Expected JSON object for keyword: 'parameters': attempt to access JSON non-object as object"],
  ])('%s is %i', async (body, status, error) => {
    for (const kind of ['generate', 'generate_stream'] as const) {
      expect(await post(kind, body)).toMatchObject({ status, type: 'application/json', body: JSON.stringify({ error }) });
    }
  });

  test('an int32 that does not fit wraps', async () => {
    await post('generate', { text_input: 'one-final', max_tokens: 99999999999 });
    expect(Buffer.from(test_.seen.at(-1)?.inputs.get('max_tokens')?.data ?? []).readInt32LE()).toBe(1215752191);
  });

  test('a compressed body is refused', async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v2/models/flat/generate`, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Encoding': 'gzip' },
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      '{"error":"Unsupported content-encoding, only \'identity\' is supported."}',
    ]);
  });

  test('an unknown model is 404, GET is 405', async () => {
    const unknown = await fetch(`http://127.0.0.1:${server.port}/v2/models/nope/generate`, { method: 'POST', body: '{}' });
    expect([unknown.status, await unknown.text()]).toEqual([404, '{"error":"Request for unknown model: \'nope\' is not found"}']);
    const get = await fetch(`http://127.0.0.1:${server.port}/v2/models/flat/generate`);
    expect([get.status, get.headers.get('content-type'), await get.text()]).toEqual([
      405,
      'application/json',
      '{"error":"Method Not Allowed"}',
    ]);
  });
});

describe('generate_stream', () => {
  test.each([
    ['three', 200, event('Hel') + event('lo') + event('')],
    ['two-then-flag', 200, event('Hel') + event('lo')],
    ['one-final', 200, event('Hello')],
    ['nothing', 200, ''],
    ['error-internal', 400, 'data: {"error":"out of memory"}\n\n'],
    ['error-first', 400, 'data: {"error":"scripted model error"}\n\n'],
    ['error-middle', 200, `${event('A')}data: {"error":"boom in the middle"}\n\n${event('B')}`],
  ])('%s', async (script, status, body) => {
    expect(await post('generate_stream', prompt(script))).toEqual({ status, type: SSE, chunked: 'chunked', body });
  });

  test('every event is its own HTTP chunk, and the headers are those of a real server', async () => {
    const body = JSON.stringify(prompt('two-final'));
    const raw = await rawExchange(
      server.port,
      `POST /v2/models/flat/generate_stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const first = 'data: {"model_name":"flat","model_version":"1","text_output":"Hel"}\n\n';
    const second = 'data: {"model_name":"flat","model_version":"1","text_output":"lo"}\n\n';
    expect(raw).toBe(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n' +
        `${first.length.toString(16)}\r\n${first}\r\n${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`,
    );
  });
});

describe('a client that goes away', () => {
  /** Sends a request, and closes its connection once it has reached the model and so many events have come; the server has seen it then. */
  async function closeAfter(script: string, events: number, at: Listening, core: TestCore, kind = 'generate_stream') {
    const before = core.seen.length;
    const request = httpRequest({ host: '127.0.0.1', port: at.port, path: `/v2/models/flat/${kind}`, method: 'POST' });
    request.on('error', () => {});
    const arrived = new Promise<void>((resolve) => {
      if (events === 0) resolve();
      let text = '';
      request.on('response', (response) =>
        response
          .on('error', () => {})
          .on('data', (data) => {
            text += String(data);
            if (text.split('\n\n').length > events) resolve();
          }),
      );
    });
    request.end(JSON.stringify(prompt(script)));
    await arrived;
    const closed = new Promise<void>((resolve) => void request.once('close', resolve));
    const reached = await until('the request to reach the model', () => core.seen[before]);
    request.destroy();
    await closed;
    // The end of the connection was there before these bytes.
    await fetch(`http://127.0.0.1:${at.port}/v2/health/live`);
    return reached;
  }

  const until = <T>(what: string, look: () => T | undefined) => pollUntil({ ms: 10_000, everyMs: 2, what }, async () => look());
  const untilCancelled = (request: ModelRequest) => until('the request to be cancelled', () => request.isCancelled() || undefined);

  test('is noticed when the model sends its next response', async () => {
    const request = await closeAfter('gated-after-one', 1, server, test_);
    expect(request.isCancelled()).toBe(false);
    test_.proceed();
    expect(await untilCancelled(request)).toBe(true);
    test_.proceed();
  });

  test('is not noticed while the model is silent', async () => {
    const request = await closeAfter('gated-from-start', 0, server, test_);
    expect(request.isCancelled()).toBe(false);
    test_.proceed();
    expect(await untilCancelled(request)).toBe(true);
    test_.proceed();
  });

  test('is noticed at once where the profile says so', async () => {
    using ideal = testCore(IDEAL_PROFILE);
    await using other = await startHttpServer({ core: ideal.core, host: '127.0.0.1', port: 0 });
    for (const kind of ['generate_stream', 'generate']) {
      const request = await closeAfter('gated-from-start', 0, other, ideal, kind);
      expect(await untilCancelled(request)).toBe(true);
      ideal.proceed();
      await until('the script to end', () => (ideal.ended.includes(request) ? true : undefined));
    }
  });

  test('is noticed late where it is not streamed, by the fault http-close-not-seen-nonstream', async () => {
    using ideal = testCore(IDEAL_PROFILE);
    const faults = new Set(['http-close-not-seen-nonstream']);
    await using faulty = await startHttpServer({ core: ideal.core, host: '127.0.0.1', port: 0, faults });
    const streamed = await closeAfter('gated-from-start', 0, faulty, ideal);
    expect(await untilCancelled(streamed)).toBe(true);
    ideal.proceed();
    await until('the script to end', () => (ideal.ended.includes(streamed) ? true : undefined));
    const whole = await closeAfter('gated-from-start', 0, faulty, ideal, 'generate');
    expect(whole.isCancelled()).toBe(false);
    ideal.proceed();
    expect(await untilCancelled(whole)).toBe(true);
    ideal.proceed();
  });
});

describe('faults', () => {
  test('echo-default-nonstream drops exclude_input_in_output of generate only', async () => {
    await using faulty = await startHttpServer({
      core: test_.core,
      host: '127.0.0.1',
      port: 0,
      faults: new Set(['echo-default-nonstream']),
    });
    await post('generate', { ...prompt('one-final'), exclude_input_in_output: true }, faulty);
    expect(test_.seen.at(-1)?.inputs.has('exclude_input_in_output')).toBe(false);
    await post('generate_stream', { ...prompt('one-final'), exclude_input_in_output: true }, faulty);
    expect(test_.seen.at(-1)?.inputs.has('exclude_input_in_output')).toBe(true);
  });

  test('http-generate-stops-answering answers eight, and streams for ever', async () => {
    const faults = new Set(['http-generate-stops-answering']);
    await using faulty = await startHttpServer({ core: test_.core, host: '127.0.0.1', port: 0, faults });
    for (let i = 0; i < 8; i++) expect((await post('generate', prompt('one-final'), faulty)).status).toBe(200);
    const reached = test_.seen.length;
    const leaving = new AbortController();
    const ninth = fetch(`http://127.0.0.1:${faulty.port}/v2/models/flat/generate`, {
      method: 'POST',
      body: JSON.stringify(prompt('one-final')),
      signal: leaving.signal,
    });
    expect((await post('generate_stream', prompt('one-final'), faulty)).body).toBe(event('Hello'));
    expect(test_.seen.length).toBe(reached + 1);
    leaving.abort();
    await expect(ninth).rejects.toThrow('abort');
  });

  test('no-end-marker-in-sse closes without the last chunk', async () => {
    await using faulty = await startHttpServer({ core: test_.core, host: '127.0.0.1', port: 0, faults: new Set(['no-end-marker-in-sse']) });
    const body = JSON.stringify(prompt('two-final'));
    const raw = await rawExchange(
      faulty.port,
      `POST /v2/models/flat/generate_stream HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(raw).toContain('"text_output":"lo"}\n\n\r\n');
    expect(raw.endsWith('0\r\n\r\n')).toBe(false);
  });
});

/** All bytes until the server closes. */
function rawExchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let out = '';
    socket.on('data', (data) => (out += data.toString('utf8')));
    socket.on('end', () => {
      socket.destroy();
      resolve(out);
    });
    socket.on('error', reject);
  });
}
