/** What every client promises, whatever its protocol. A driver is a few lines per protocol. */
import { describe, expect, test } from 'vitest';
import { LockstepError } from '#core/errors/index.ts';
import type { CallOptions } from './types.ts';

/** What the server behind a driver does with a call. */
export type Behaviour =
  /** Takes the request and never answers. */
  | 'silent'
  /** Streams "0", "1", … every 2 ms until the client goes away. */
  | 'endless'
  /** Streams "0", "1", "2", then destroys the connection. */
  | 'dies'
  /** Refuses with INVALID_ARGUMENT or 400 and the text "no such tensor". */
  | 'refuses'
  /** Sends the request's own text back as one message. */
  | 'echoes';

export interface ContractServer extends AsyncDisposable {
  /** Resolves when the server has seen, on the wire, that a client went away. */
  readonly cancelled: Promise<void>;
  unary(text: string, options: CallOptions): Promise<string>;
  stream(text: string, options: CallOptions): AsyncIterable<string>;
}

export interface ClientDriver {
  readonly name: string;
  start(behaviour: Behaviour): Promise<ContractServer>;
  /** A client for an address where nothing listens. */
  nowhere(): Promise<ContractServer>;
  readonly codes: { readonly deadline: string; readonly refused: string; readonly died: string; readonly disposed: string };
}

const PATIENT: CallOptions = { deadlineMs: 20_000 };

export function testClientContract(driver: ClientDriver): void {
  describe(`client contract: ${driver.name}`, () => {
    test('a deadline ends a call that is never answered, and the server sees the client go', async () => {
      await using server = await driver.start('silent');
      const error = await failure(server.unary('x', { deadlineMs: 500 }));
      expect(error.code).toBe(driver.codes.deadline);
      await server.cancelled;
    });

    test('an abort ends a call that is never answered, as interrupted', async () => {
      await using server = await driver.start('silent');
      const call = failure(server.unary('x', { ...PATIENT, signal: AbortSignal.timeout(400) }));
      expect((await call).code).toBe('interrupted');
      await server.cancelled;
    });

    test('a signal that has aborted already sends nothing', async () => {
      await using server = await driver.start('echoes');
      expect((await failure(server.unary('x', { ...PATIENT, signal: AbortSignal.abort() }))).code).toBe('interrupted');
    });

    test('leaving a stream reaches the server as a cancel', async () => {
      await using server = await driver.start('endless');
      const seen: string[] = [];
      for await (const text of server.stream('x', PATIENT)) if (seen.push(text) === 3) break;
      expect(seen).toEqual(['0', '1', '2']);
      await server.cancelled;
    });

    test('aborting a stream reaches the server as a cancel and the reader as interrupted', async () => {
      await using server = await driver.start('endless');
      const abort = new AbortController();
      const error = await failure(
        (async () => {
          for await (const text of server.stream('x', { ...PATIENT, signal: abort.signal })) if (text === '2') abort.abort();
        })(),
      );
      expect(error.code).toBe('interrupted');
      await server.cancelled;
    });

    test('a deadline in mid stream is told apart from an end', async () => {
      await using server = await driver.start('endless');
      const error = await failure(drain(server.stream('x', { deadlineMs: 500 })));
      expect(error.code).toBe(driver.codes.deadline);
      await server.cancelled;
    });

    test('a refusal carries the code, the text and the address', async () => {
      await using server = await driver.start('refuses');
      const error = await failure(server.unary('x', PATIENT));
      expect(error.code).toBe(driver.codes.refused);
      expect(error.message).toContain('no such tensor');
      expect(error.context['details']).toBe('no such tensor');
      expect(error.context['address']).toMatch(/127\.0\.0\.1:\d+/);
      expect(error.hint).toBeTruthy();
    });

    test('an address where nothing listens is target-unreachable, with the next step', async () => {
      await using server = await driver.nowhere();
      const error = await failure(server.unary('x', PATIENT));
      expect(error.code).toBe('target-unreachable');
      expect(error.context['address']).toMatch(/127\.0\.0\.1:\d+/);
      expect(error.hint).toContain('Check that the server runs');
      expect((await failure(drain(server.stream('x', PATIENT)))).code).toBe('target-unreachable');
    });

    test('a connection that dies in mid stream gives what arrived, then an error', async () => {
      await using server = await driver.start('dies');
      const seen: string[] = [];
      const error = await failure(
        (async () => {
          for await (const text of server.stream('x', PATIENT)) seen.push(text);
        })(),
      );
      expect(seen).toEqual(['0', '1', '2']);
      expect(error.code).toBe(driver.codes.died);
    });

    test('a message of 8 MiB arrives whole', async () => {
      await using server = await driver.start('echoes');
      const text = 'lockstep'.repeat(1 << 20);
      expect((await server.unary(text, PATIENT)) === text).toBe(true);
      expect((await drain(server.stream(text, PATIENT))).join('') === text).toBe(true);
    });

    test('disposing the client ends what is in flight, and the server sees it', async () => {
      const server = await driver.start('silent');
      const call = failure(server.unary('x', PATIENT));
      await new Promise((resolve) => setTimeout(resolve, 400));
      await server[Symbol.asyncDispose]();
      expect((await call).code).toMatch(driver.codes.disposed);
      await server.cancelled;
    });

    test('250 calls in flight each get their own answer', async () => {
      await using server = await driver.start('echoes');
      const texts = Array.from({ length: 250 }, (_, i) => `call ${i}`);
      expect(await Promise.all(texts.map((text) => server.unary(text, PATIENT)))).toEqual(texts);
    });
  });
}

async function drain(stream: AsyncIterable<string>): Promise<string[]> {
  const out: string[] = [];
  for await (const text of stream) out.push(text);
  return out;
}

async function failure(work: Promise<unknown>): Promise<LockstepError> {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof LockstepError) return thrown;
    throw thrown;
  }
  throw new Error('expected a failure');
}
