/** What clients of a real tritonserver see when it is told to end; src/cli/serve-stops.real.test.ts is the same for `lockstep serve`. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { connect } from '#wire/clients/index.ts';
import { bytesTensor } from '#wire/protocol/tensors.ts';
import { startTritonServer, type TritonProcess } from '../index.ts';
import { type ScriptedRepository, scriptedRepository, type Step } from './repository.ts';

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('a real tritonserver with streams in flight', { timeout: 60_000 }, () => {
  let repository: ScriptedRepository;
  beforeAll(() => {
    repository = scriptedRepository();
  });
  afterAll(() => repository[Symbol.dispose]());

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: HTTP answers no more, the streams come to their ends, the exit code is 0',
    async (signal) => {
      await using server = await startTritonServer({ repository: repository.path });
      const [grpc, http] = [overGrpc(server, 20), overHttp(server, 20)];
      await Promise.all([grpc.begun, http.begun]);
      const seen = [grpc.events(), http.events()];
      process.kill(server.pid!, signal);
      await pollUntil({ ms: 1_000, everyMs: 2, what: 'HTTP to answer no more' }, async () =>
        (await answers(server.endpoints.http)) ? undefined : true,
      );
      expect(seen.every((events) => events < 20)).toBe(true);
      expect(await Promise.all([grpc.end, http.end])).toEqual(['0 20', 'whole 20']);
      expect(await exit(server)).toBe('tritonserver exited with code 0');
    },
  );

  test('a stream longer than the exit timeout keeps the server from ending well', async () => {
    await using server = await startTritonServer({ repository: repository.path, args: ['--exit-timeout-secs=1'] });
    const grpc = overGrpc(server, 60);
    await grpc.begun;
    const beginNs = nowNs();
    process.kill(server.pid!, 'SIGTERM');
    // It gives up with code 1 and was seen to die of that, or to hang until the stream had ended.
    expect(await exit(server)).toMatch(/^tritonserver (exited with code 1|was killed by SIG(SEGV|ABRT))$/);
    expect(server.logTail().join('\n')).toContain('Exit timeout expired. Exiting immediately.');
    expect((nowNs() - beginNs) / 1e6).toBeGreaterThan(900);
    expect(await grpc.end).toMatch(/^(0 60|14 \d+)$/);
  });
});

interface Running {
  readonly begun: Promise<void>;
  readonly events: () => number;
  /** How it ended, and after how many responses. */
  readonly end: Promise<string>;
}

/** A response every 50 ms. */
function script(responses: number): string {
  const steps = Array.from({ length: responses }, (_, i): Step => ({ waitMs: 50, text: `${i}` }));
  return JSON.stringify([...steps, { final: true }]);
}

function overGrpc({ endpoints: { grpc } }: TritonProcess, responses: number): Running {
  const begun = Promise.withResolvers<void>();
  let events = 0;
  const read = async (): Promise<string> => {
    await using clients = connect({ grpc, http: grpc, metrics: undefined, openai: undefined });
    await using stream = clients.grpc.openStream({ deadlineMs: 30_000 });
    await stream.send({ model: 'script', id: 'q', inputs: [bytesTensor('SCRIPT', [1], [script(responses)])] });
    stream.halfClose();
    try {
      for await (const _ of stream.messages) if (events++ === 0) begun.resolve();
    } catch {
      // The status says it.
    }
    return `${(await stream.status).code} ${events}`;
  };
  return { begun: begun.promise, events: () => events, end: read() };
}

function overHttp({ endpoints: { http } }: TritonProcess, responses: number): Running {
  const begun = Promise.withResolvers<void>();
  let events = 0;
  const read = async (): Promise<string> => {
    // Without a connection that stays: an idle one makes the server wait out its exit timeout.
    const out = request({
      host: '127.0.0.1',
      port: Number(http.split(':')[1]),
      path: '/v2/models/script/generate_stream',
      method: 'POST',
      agent: false,
    });
    out.setHeader('content-type', 'application/json').end(JSON.stringify({ SCRIPT: script(responses) }));
    try {
      const [reply] = (await once(out, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of reply.setEncoding('utf8')) {
        text += chunk;
        events = text.split('\n\n').length - 1;
        begun.resolve();
      }
      return `whole ${events}`;
    } catch {
      return `cut ${events}`;
    }
  };
  return { begun: begun.promise, events: () => events, end: read() };
}

function exit(server: TritonProcess): Promise<string> {
  return pollUntil({ ms: 20_000, everyMs: 10, what: 'tritonserver to end' }, async () => {
    const [line = ''] = (await server.health()).detail.split('\n');
    return /exited|killed/.test(line) ? line : undefined;
  });
}

/** The port of a server that ends may still take a connection, and lets it go without a word. */
function answers(endpoint: string): Promise<boolean> {
  const out = request({ host: '127.0.0.1', port: Number(endpoint.split(':')[1]), path: '/v2/health/live', agent: false }).end();
  return once(out, 'response').then(
    () => true,
    () => false,
  );
}
