import { request as httpRequest } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { MESSAGES, OBSERVED, type ObservedCase, PROMPT, type Seen } from './observed-cases.ts';
import { ids, type ServeSetup, type ServeUnderTest, serveUnderTest } from './testing.ts';

const servers = new Map<string, Promise<ServeUnderTest>>();
afterAll(async () => {
  await Promise.all([...servers.values()].map(async (one) => (await one)[Symbol.asyncDispose]()));
});

test('every row of the observation is answered as the observed server answered it', async () => {
  const byServer = Map.groupBy(
    OBSERVED.flatMap((row) =>
      (['1.1', '1.3rc'] as const).filter((release) => (row.release ?? release) === release).map((release) => ({ row, release })),
    ),
    ({ row, release }) =>
      JSON.stringify({
        release,
        models: row.eosDropped ? '1.1' : '1.2',
        ...(row.interval === undefined ? {} : { streamInterval: row.interval }),
      } satisfies ServeSetup),
  );
  const wrong: object[] = [];
  for (const [setup, rows] of byServer) {
    const server = serveUnderTest(JSON.parse(setup) as ServeSetup);
    servers.set(setup, server);
    for (const { row, release } of rows) {
      const found = await difference(await server, row);
      if (found !== undefined) wrong.push({ row: row.name, release, ...found });
    }
  }
  expect(wrong).toEqual([]);
  expect(OBSERVED.length).toBeGreaterThan(180);
}, 30_000);

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly cut: boolean;
}

async function difference(server: ServeUnderTest, row: ObservedCase): Promise<object | undefined> {
  server.play({ ids: ids(server.tokenizer, ...(row.says ?? [])) });
  const reply = await post(server.port, row);
  const body = masked(reply.body);
  const expected: Record<string, unknown> = { status: row.status ?? 200, cut: row.cut ?? false };
  const actual: Record<string, unknown> = { status: reply.status, cut: reply.cut };
  if (row.exact !== undefined) [expected['body'], actual['body']] = [row.exact, body];
  if (row.holds !== undefined) [expected['holds'], actual['holds']] = [row.holds, body.includes(row.holds) ? row.holds : body];
  if (row.seen !== undefined && reply.status === 200) {
    const seen = seenIn(reply.body);
    for (const key of Object.keys(row.seen) as (keyof Seen)[]) [expected[key], actual[key]] = [row.seen[key], seen[key]];
  }
  return JSON.stringify(actual) === JSON.stringify(expected) ? undefined : { expected, actual };
}

function post(port: number, { chat, body = {} }: ObservedCase): Promise<Reply> {
  const own = chat ? { messages: MESSAGES } : { prompt: PROMPT };
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...own, ...body });
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        port,
        host: '127.0.0.1',
        path: chat ? '/v1/chat/completions' : '/v1/completions',
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => {});
        response.on('close', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8'), cut: !response.complete }),
        );
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

function masked(body: string): string {
  return body
    .replace(/((?:chat)?cmpl(?:-tool)?)-[0-9a-f]{32}/g, '$1-H')
    .replace(/((?:chat)?cmpl)-\d+"/g, '$1-N"')
    .replace(/"created":\d+/g, '"created":T');
}

interface Choice {
  readonly text?: string;
  readonly delta?: { readonly role?: string; readonly content?: string };
  readonly message?: { readonly content: string };
  readonly finish_reason?: string | null;
  readonly stop_reason?: string | number | null;
}
interface Payload {
  readonly choices: readonly Choice[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

function seenIn(body: string): Seen {
  const streamed = body.startsWith('data: ');
  const payloads = streamed
    ? body.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6)) as Payload] : []))
    : [JSON.parse(body) as Payload];
  const choices = payloads.flatMap((payload) => payload.choices).filter((choice) => choice.delta?.role === undefined);
  const texts = choices.map((choice) => choice.text ?? choice.message?.content ?? choice.delta?.content ?? '');
  const counted = payloads.findLast((payload) => payload.usage != null)?.usage;
  const last = choices.at(-1);
  return {
    text: streamed ? texts : texts.join(''),
    finish: last?.finish_reason ?? null,
    stop: last?.stop_reason ?? null,
    ...(counted == null ? {} : { tokens: counted.completion_tokens, promptTokens: counted.prompt_tokens }),
  };
}
