import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { withDeadline } from '#core/deadline/index.ts';
import { testCore } from '../http/test-core.ts';
import { startOpenAiServer } from '../openai/index.ts';
import { serveUnderTest } from '../trtllm-serve/testing.ts';

const core = testCore();
const local = { host: '127.0.0.1', port: 0 };
const FRONT_ENDS = [
  {
    name: "NVIDIA's front end",
    start: () => startOpenAiServer({ core: core.core, tokenizer: undefined, ...local }),
    path: '/health/ready',
  },
  { name: 'trtllm-serve', start: () => serveUnderTest({ release: '1.1', models: '1.2' }), path: '/health' },
];
afterAll(() => core[Symbol.dispose]());

// Five seconds of nothing: part of npm run test:processes.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('an idle connection', { timeout: 20_000 }, () => {
  test.concurrent.each(FRONT_ENDS)('$name closes it after 5 s, counted from the last answer', async ({ start, path }) => {
    await using server = await start();
    const socket = connect(server.port, '127.0.0.1');
    const ask = () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let answeredNs = 0;
    let answers = 0;
    socket.on('connect', ask).on('data', () => {
      answeredNs = nowNs();
      answers++;
      if (answers === 1) setTimeout(ask, 1000);
    });
    await withDeadline({ ms: 15_000, what: 'the server to close' }, () => new Promise((resolve) => socket.on('end', resolve)));
    const idleMs = (nowNs() - answeredNs) / 1e6;
    expect(answers).toBe(2);
    expect(idleMs).toBeGreaterThan(4900);
    expect(idleMs).toBeLessThan(5900);
  });
});
