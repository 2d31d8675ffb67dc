import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { sleep, withDeadline } from '#core/deadline/index.ts';
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
    const answered = () => withDeadline({ ms: 10_000, what: 'the answer' }, () => once(socket, 'data'));
    let closed = false;
    socket.on('end', () => (closed = true));
    for (const waitMs of [0, 1_000]) {
      await sleep(waitMs);
      ask();
      await answered();
    }
    await sleep(4_500);
    expect(closed).toBe(false);
    // Timers of one process fire in their order, however late; what they caused may be read a moment after.
    await sleep(1_000);
    await sleep(200);
    expect(closed).toBe(true);
    socket.destroy();
  });
});
