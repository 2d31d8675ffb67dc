import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, startHttpServer } from './index.ts';
import { type TestCore, testCore } from './test-core.ts';

/**
 * Every byte that a real tritonserver 2.51.0 (24.10, CPU) answered to these requests, one after the other, recorded
 * with the same three models (flat, echo, half) as Python-backend models. Bytes are latin-1 characters here. Left out:
 * HEAD (the real server sends a body), statistics (times), exceptions inside execute (paths).
 */
interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answer: string;
}
const recorded = JSON.parse(readFileSync(new URL('real-2-51.cases.json', import.meta.url), 'utf8')) as Recorded[];

/** Where the embedded server is known to answer differently; each with the reason. */
function knownDifference(r: Recorded): string | undefined {
  if (r.body.includes('"\xff\x7f"')) return 'strings that are no UTF-8 come back with U+FFFD';
  // The rest is the core's, not the front end's.
  if (r.path.endsWith('/config') && r.answer.includes('200 OK')) return 'key order inside optimization';
  if (r.path.includes('cudasharedmemory/region/rg/status')) return 'a region of the other kind is named so by the real server';
  if (r.body.includes('"shape": [0, 2]') || r.body.includes('[], "max_tokens"') || r.body.includes('"max_tokens": []'))
    return 'a batch of none is refused by its byte size';
  if (r.body.includes('"max_tokens": [1, 2]')) return 'the real server names the other input';
  return undefined;
}

let test_: TestCore;
let server: Listening;

beforeAll(async () => {
  writeFileSync('/dev/shm/lockstep_p', Buffer.alloc(64));
  test_ = testCore();
  server = await startHttpServer({ core: test_.core, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  test_[Symbol.dispose]();
  rmSync('/dev/shm/lockstep_p', { force: true });
});

test('answers are those of a real 2.51.0, byte for byte', async () => {
  const wrong: object[] = [];
  for (const r of recorded) {
    const seen = await exchange(r);
    if (knownDifference(r) === undefined && seen !== r.answer)
      wrong.push({ request: `${r.method} ${r.path} ${r.body}`, real: r.answer, seen });
  }
  expect(wrong).toEqual([]);
  expect(recorded.length).toBeGreaterThan(380);
}, 30_000);

function exchange(r: Recorded): Promise<string> {
  const headers = Object.entries(r.headers).map(([key, value]) => `${key}: ${value}\r\n`);
  const length = r.body !== '' || r.method === 'POST' ? `Content-Length: ${r.body.length}\r\n` : '';
  const text = `${r.method} ${r.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('')}${length}\r\n${r.body}`;
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text, 'latin1'));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
    socket.on('error', reject);
  });
}
