import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Listening } from '../http/index.ts';
import { type TestCore, testCore } from '../http/test-core.ts';
import { startOpenAiServer } from './index.ts';

/**
 * Every byte that NVIDIA's front end of branch r25.12 answered to these requests: its own routers, schemas and engine
 * class under FastAPI 0.121.2, Starlette 0.49.3, Pydantic 2.14.4 and uvicorn 0.54.0 (h11), in front of a stand-in for
 * the in-process binding that plays the scripts of test-core.ts. Bytes are latin-1 characters; ids, `created` and the
 * date are masked. Left out: integers out of range, which depend on the NumPy version, and the text of error responses,
 * which the stand-in cannot give.
 */
interface Recorded {
  readonly request: string;
  readonly answer: string;
}
const recorded = JSON.parse(readFileSync(new URL('real-r25-12.cases.json', import.meta.url), 'utf8')) as Recorded[];

const tokenizer = {
  bosId: 1,
  tokenText: () => '<|bos|>',
  applyChatTemplate: (messages) => `<|bos|>${messages.map((m) => `<|${m.role}|>${m.content}\n`).join('')}<|assistant|>`,
} satisfies Partial<Tokenizer> as unknown as Tokenizer;

let test_: TestCore;
let server: Listening;

beforeAll(async () => {
  test_ = testCore();
  server = await startOpenAiServer({ core: test_.core, tokenizer, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close(0);
  test_[Symbol.dispose]();
});

test('answers are those of the front end r25.12, byte for byte', async () => {
  const wrong: object[] = [];
  const seen = await Promise.all(recorded.map((r) => exchange(r.request)));
  recorded.forEach((r, i) => {
    if (masked(seen[i] ?? '') !== masked(r.answer)) wrong.push({ request: r.request, real: r.answer, seen: seen[i] });
  });
  expect(wrong).toEqual([]);
  expect(recorded.length).toBeGreaterThan(180);
}, 30_000);

function masked(text: string): string {
  return text
    .replace(/cmpl-[0-9a-f-]{36}/g, 'ID')
    .replace(/"created":\d+/g, '"created":T')
    .replace(/date: [^\r]+/g, 'date: D');
}

/** Until the server closes, or says nothing for a while on a connection that it keeps open. */
function exchange(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(request, 'latin1'));
    const chunks: Buffer[] = [];
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', done);
    socket.setTimeout(1000, done);
    socket.on('error', reject);
  });
}
