import { expect, test } from 'vitest';
import { FLAG, textOfEvent } from '#core/transcript/index.ts';
import { httpServer } from '#wire/clients/testing.ts';
import { ROUTES } from './index.ts';
import { caseOn, contextOf } from './testing.ts';

const OPTIONS = { deadlineMs: 10_000 };
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json' };
const MESSAGES = { kind: 'messages', messages: [{ role: 'user', content: 'Hi' }] } as const;

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly events?: readonly string[];
  readonly body?: string | Buffer;
  /** Closes without the last chunk. */
  readonly cut?: boolean;
}

/** Answers every request alike and keeps what was asked. */
async function server({ status = 200, headers = SSE, events = [], body, cut = false }: Answer) {
  const asked: { url: string | undefined; body: Record<string, unknown> }[] = [];
  const http = await httpServer((request, response, bytes) => {
    asked.push({ url: request.url, body: JSON.parse(bytes.toString()) as Record<string, unknown> });
    response.writeHead(status, headers);
    for (const event of events) response.write(`data: ${event}\n\n`);
    if (cut) setTimeout(() => response.destroy(), 20);
    else response.end(body);
  });
  return { ...http, asked, context: contextOf({ http: http.address, openai: `http://${http.address}` }) };
}

test('generate_stream: texts, counts, log-probabilities, event borders', async () => {
  const events = [
    '{"text_output":"He","num_input_tokens":3,"num_output_tokens":1,"output_log_probs":-0.5,"cum_log_probs":-0.5}',
    '{"text_output":"llo","num_input_tokens":3,"num_output_tokens":2,"output_log_probs":[-1,-2],"cum_log_probs":-3.5}',
    '{"text_output":""}',
  ];
  await using s = await server({ events });
  const t = await ROUTES.generate.run(caseOn('generate'), s.context, { ...OPTIONS, logProbs: true });
  expect(s.asked[0]?.url).toBe('/v2/models/ensemble/generate_stream');
  expect(s.asked[0]?.body).toMatchObject({
    text_input: 'Hello',
    max_tokens: 8,
    stream: true,
    exclude_input_in_output: true,
    return_log_probs: true,
  });
  expect(t).toMatchObject({
    text: 'Hello',
    promptText: 'Hello',
    events: 3,
    ending: 'complete',
    errors: [],
    cumLogProb: -3.5,
    usage: { promptTokens: 3, completionTokens: 3 },
  });
  expect([0, 1, 2].map((i) => textOfEvent(t, i))).toEqual(['He', 'llo', '']);
  expect([...t.logProbs]).toEqual([-0.5, -1, -2]);
});

test('generate: one JSON object is one event; an error in a 200 answer is in band', async () => {
  await using good = await server({ headers: JSON_TYPE, body: '{"text_output":"Hello"}' });
  const c = caseOn('generate', { mode: 'unary' });
  expect(await ROUTES.generate.run(c, good.context, OPTIONS)).toMatchObject({ text: 'Hello', events: 1, ending: 'complete' });
  expect(good.asked[0]).toMatchObject({ url: '/v2/models/ensemble/generate', body: { stream: false } });
  await using bad = await server({ headers: JSON_TYPE, body: '{"error":"generate expects model to produce exactly 1 response"}' });
  expect(await ROUTES.generate.run(c, bad.context, OPTIONS)).toMatchObject({
    text: '',
    events: 1,
    ending: 'complete',
    errors: [{ event: 0, code: 'in-band', message: 'generate expects model to produce exactly 1 response' }],
  });
});

test('a refusal is HTTP <status> instead of events, as JSON, as an event, or empty', async () => {
  for (const answer of [{ headers: JSON_TYPE, body: '{"error":"no"}' }, { events: ['{"error":"no"}'] }, { headers: {}, body: '' }]) {
    await using s = await server({ status: 400, ...answer });
    const message = 'body' in answer && answer.body === '' ? '' : 'no';
    expect(await ROUTES.generate.run(caseOn('generate'), s.context, OPTIONS)).toMatchObject({
      events: 0,
      ending: 'complete',
      errors: [{ event: -1, code: 'HTTP 400', message }],
    });
  }
});

test('an error event in mid stream stands where it came, and a foreign id is kept', async () => {
  await using s = await server({ events: ['{"text_output":"a","id":"other"}', '{"error":"boom"}', '{"text_output":"b"}'] });
  const t = await ROUTES.generate.run(caseOn('generate'), s.context, OPTIONS);
  expect(t).toMatchObject({ text: 'ab', errors: [{ event: 1, code: 'in-band', message: 'boom' }], foreignIds: ['other'] });
  expect([...t.flags]).toEqual([FLAG.data, FLAG.error, FLAG.data]);
});

test('text that is not UTF-8 is told', async () => {
  const body = Buffer.concat([Buffer.from('data: {"text_output":"a'), Buffer.from([0xc3]), Buffer.from('"}\n\n')]);
  await using s = await server({ body });
  const t = await ROUTES.generate.run(caseOn('generate'), s.context, OPTIONS);
  expect(t.text).toBe('a\ufffd');
  expect(t.errors).toMatchObject([{ event: 0, code: 'invalid-utf8' }]);
});

test.each(['openai-completions', 'openai-chat', 'generate'] as const)('%s: a body without its end is broken', async (route) => {
  const event = route === 'openai-chat' ? chat({ content: 'a' }) : route === 'generate' ? '{"text_output":"a"}' : completion('a');
  await using s = await server({ events: [event], cut: true });
  const t = await ROUTES[route].run(caseOn(route, { prompt: MESSAGES }), s.context, OPTIONS);
  expect(t).toMatchObject({ text: 'a', events: 1, ending: 'broken', errors: [{ event: -1, code: 'http-broken' }] });
});

test('completions: chunks, finish, usage and [DONE]', async () => {
  const usage = { prompt_tokens: 7, total_tokens: 9, completion_tokens: 2 };
  await using s = await server({
    events: [completion('Hel'), completion('lo'), completion('', 'stop'), JSON.stringify({ id: 'cmpl-1', choices: [], usage }), '[DONE]'],
  });
  const t = await ROUTES['openai-completions'].run(caseOn('openai-completions'), s.context, OPTIONS);
  expect(s.asked[0]).toEqual({
    url: '/v1/completions',
    body: {
      prompt: 'Hello',
      model: 'ensemble',
      max_tokens: 8,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      top_p: 0,
    },
  });
  expect(t).toMatchObject({
    text: 'Hello',
    ending: 'complete',
    errors: [],
    finishReasons: [{ event: 2, reason: 'stop' }],
    usage: { promptTokens: 7, completionTokens: 2 },
  });
  expect([...t.flags]).toEqual([FLAG.data, FLAG.data, FLAG.data | FLAG.finish, FLAG.usage, FLAG.done]);
});

test('chat: the role event is no data, and the template is left to the server', async () => {
  await using s = await server({
    events: [
      chat({ role: 'assistant', content: '' }),
      chat({ role: null, content: 'Hi' }),
      chat({ role: null, content: '' }, 'stop'),
      '[DONE]',
    ],
  });
  const t = await ROUTES['openai-chat'].run(caseOn('openai-chat', { prompt: MESSAGES }), s.context, OPTIONS);
  expect(s.asked[0]).toMatchObject({ url: '/v1/chat/completions', body: { messages: MESSAGES.messages } });
  expect(s.asked[0]?.body).not.toHaveProperty('prompt');
  expect([...t.flags]).toEqual([FLAG.role, FLAG.data, FLAG.data | FLAG.finish, FLAG.done]);
  expect(t).toMatchObject({ text: 'Hi', promptText: undefined, promptIds: undefined });
});

test('trtllm-serve: absent keys, an id per chunk, usage in every chunk and in an object of another kind', async () => {
  const chunk = (n: number, more: object, object = 'text_completion') => JSON.stringify({ id: `cmpl-${n}`, object, choices: [], ...more });
  const usage = (n: number) => ({
    usage: { prompt_tokens: 7, total_tokens: 7 + n, completion_tokens: n, prompt_tokens_details: { cached_tokens: 0 } },
  });
  await using completions = await server({
    events: [
      chunk(1, { choices: [{ index: 0, text: 'Hel', finish_reason: null }], ...usage(1) }),
      chunk(2, { choices: [{ index: 0, text: '', finish_reason: 'length' }], ...usage(2) }),
      chunk(3, usage(2), 'chat.completion.chunk'),
      '[DONE]',
    ],
  });
  const t = await ROUTES['openai-completions'].run(caseOn('openai-completions'), completions.context, OPTIONS);
  expect(t).toMatchObject({
    text: 'Hel',
    errors: [],
    usage: { promptTokens: 7, completionTokens: 2 },
    finishReasons: [{ event: 1, reason: 'length' }],
    foreignIds: ['cmpl-2', 'cmpl-3'],
    objects: ['text_completion', 'chat.completion.chunk'],
  });
  await using chats = await server({
    events: [
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"}}]} ',
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi","reasoning_content":""},"avg_decoded_tokens_per_iter":1.0}]}',
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"","reasoning_content":""},"finish_reason":"stop"}]}',
      '[DONE]',
    ],
  });
  const chatted = await ROUTES['openai-chat'].run(caseOn('openai-chat', { prompt: MESSAGES }), chats.context, OPTIONS);
  expect(chatted).toMatchObject({ text: 'Hi', errors: [], foreignIds: [], objects: ['chat.completion.chunk'] });
  expect([...chatted.flags]).toEqual([FLAG.role, FLAG.data, FLAG.data | FLAG.finish, FLAG.done]);
});

test('whole OpenAI answers are one event with text, finish and usage', async () => {
  const usage = { prompt_tokens: 7, total_tokens: 9, completion_tokens: 2 };
  await using completions = await server({
    headers: JSON_TYPE,
    body: JSON.stringify({ id: 'cmpl-1', choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }], usage }),
  });
  await using chats = await server({
    headers: JSON_TYPE,
    body: JSON.stringify({
      id: 'cmpl-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage,
    }),
  });
  const expected = {
    text: 'Hello',
    events: 1,
    ending: 'complete',
    errors: [],
    finishReasons: [{ event: 0, reason: 'stop' }],
    usage: { promptTokens: 7, completionTokens: 2 },
  };
  expect(
    await ROUTES['openai-completions'].run(caseOn('openai-completions', { mode: 'unary' }), completions.context, OPTIONS),
  ).toMatchObject(expected);
  const t = await ROUTES['openai-chat'].run(caseOn('openai-chat', { mode: 'unary', prompt: MESSAGES }), chats.context, OPTIONS);
  expect(t).toMatchObject(expected);
  expect([...t.flags]).toEqual([FLAG.data | FLAG.finish | FLAG.usage]);
});

test.each([0, 2])('leaving after %i data events closes the connection', async (afterEvents) => {
  const closed = Promise.withResolvers<void>();
  await using http = await httpServer((_request, response) => {
    response.on('close', () => !response.writableFinished && closed.resolve());
    if (afterEvents === 0) return;
    response.writeHead(200, SSE);
    response.write(
      `data: ${chat({ role: 'assistant', content: '' })}\n\ndata: ${chat({ content: 'a' })}\n\ndata: ${chat({ content: 'b' })}\n\n`,
    );
  });
  await using context = contextOf({ openai: `http://${http.address}` });
  const t = await ROUTES['openai-chat'].run(caseOn('openai-chat', { prompt: MESSAGES }), context, {
    ...OPTIONS,
    cancel: { how: 'leave', afterEvents },
  });
  expect(t).toMatchObject({ ending: 'cancelled', errors: [], text: afterEvents === 0 ? '' : 'ab' });
  await closed.promise;
});

test('leaving when the caller says so closes a connection on which nothing has come', async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using http = await httpServer((_request, response) => {
    response.on('close', () => !response.writableFinished && closed.resolve());
    asked.resolve();
  });
  await using context = contextOf({ http: http.address });
  let over = false;
  const t = await ROUTES.generate.run(caseOn('generate', { mode: 'unary' }), context, {
    ...OPTIONS,
    cancel: {
      how: 'leave-when',
      when: (ended) => {
        void ended.then(() => (over = true));
        return asked.promise;
      },
    },
  });
  expect(t).toMatchObject({ ending: 'cancelled', errors: [], text: '' });
  expect(over).toBe(true);
  await closed.promise;
});

test('a hang is our deadline, an abort is interrupted, nothing there is target-unreachable', async () => {
  await using http = await httpServer(() => {});
  await using context = contextOf({ http: http.address });
  const c = caseOn('generate');
  expect((await ROUTES.generate.run(c, context, { deadlineMs: 100 })).ending).toBe('deadline');
  await expect(ROUTES.generate.run(c, context, { ...OPTIONS, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    code: 'interrupted',
  });
  await using nobody = contextOf({});
  expect(await ROUTES.generate.run(c, nobody, OPTIONS)).toMatchObject({
    ending: 'broken',
    errors: [{ event: -1, code: 'target-unreachable' }],
  });
});

test('an event that is no JSON object is an error where it came', async () => {
  await using s = await server({ events: ['oops', '[1]', '{"choices":[7]}', completion('a')] });
  const t = await ROUTES['openai-completions'].run(caseOn('openai-completions'), s.context, OPTIONS);
  expect(t.errors.map((e) => [e.event, e.code])).toEqual([
    [0, 'malformed'],
    [1, 'malformed'],
  ]);
  expect(t.text).toBe('a');
});

function completion(text: string, finish_reason: string | null = null): string {
  return JSON.stringify({ id: 'cmpl-1', choices: [{ finish_reason, index: 0, logprobs: null, text }], usage: null });
}

function chat(delta: object, finish_reason: string | null = null): string {
  return JSON.stringify({ id: 'cmpl-1', choices: [{ delta, logprobs: null, finish_reason, index: 0 }], usage: null });
}
