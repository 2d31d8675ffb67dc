/** HTTP/1.1 with everything that keeps a connection alive: several requests, also before the first answer (RFC 9112). */
import type { Headers, Side } from '../types.ts';
import { headerOf } from '../content.ts';
import { ByteQueue } from './byte-queue.ts';
import { OpaqueDecoder } from './opaque.ts';
import type { BeginExchange, ConnectionDecoder, OpenExchange } from './types.ts';

/** Servers refuse heads of a hundredth of it. */
const LONGEST_HEAD = 1024 * 1024;
/** A body of up to so many bytes is one event; of a larger one, each read is. */
const WHOLE_BODY = 1024 * 1024;

interface Running {
  readonly exchange: OpenExchange;
  readonly method: string;
  requestDone: boolean;
  answerDone: boolean;
}

type State =
  | { readonly at: 'head' }
  | { readonly at: 'length'; left: number; readonly whole: boolean }
  | { readonly at: 'close' }
  | { readonly at: 'chunk-size' }
  | { readonly at: 'chunk'; left: number; begun: boolean; readonly size: number }
  | { readonly at: 'chunk-end' }
  | { readonly at: 'trailers' }
  /** Not HTTP any more: garbage, or another protocol after an upgrade. */
  | { readonly at: 'lost'; readonly why: string };

interface Direction {
  readonly queue: ByteQueue;
  state: State;
}

export class Http1Decoder implements ConnectionDecoder {
  readonly #begin: BeginExchange;
  readonly #running: Running[] = [];
  /** The last one whose request has begun. */
  #asking: Running | undefined;
  readonly #directions: Readonly<Record<Side, Direction>> = {
    client: { queue: new ByteQueue(), state: { at: 'head' } },
    server: { queue: new ByteQueue(), state: { at: 'head' } },
  };
  #rest: OpaqueDecoder | undefined;

  constructor(begin: BeginExchange) {
    this.#begin = begin;
  }

  bytes(from: Side, atNs: number, bytes: Buffer): void {
    const direction = this.#directions[from];
    direction.queue.push(bytes);
    while (direction.queue.length > 0 && this.#step(from, direction, atNs));
  }

  end(from: Side, atNs: number): void {
    const direction = this.#directions[from];
    if (direction.state.at === 'close') {
      direction.state = { at: 'head' };
      this.#current(from)?.exchange.add({ kind: 'close', from, atNs });
      this.#done(from, atNs);
      return;
    }
    this.#cut(from, atNs);
    for (const { exchange } of this.#running) exchange.add({ kind: 'close', from, atNs });
    this.#rest?.end(from, atNs);
  }

  reset(from: Side, atNs: number, code: string): void {
    this.#cut(from, atNs);
    for (const { exchange } of this.#running) exchange.add({ kind: 'reset', from, atNs, code });
    this.#rest?.reset(from, atNs, code);
  }

  closed(atNs: number): void {
    for (const side of ['client', 'server'] as const) this.#cut(side, atNs);
    for (const { exchange } of this.#running.splice(0)) exchange.over();
    this.#rest?.closed();
  }

  /** The exchange that bytes from this side belong to. */
  #current(from: Side): Running | undefined {
    return from === 'client' ? this.#asking : this.#running[0];
  }

  /** Reads one thing; false when it needs more bytes. */
  #step(from: Side, direction: Direction, atNs: number): boolean {
    const { queue, state } = direction;
    switch (state.at) {
      case 'head':
        return this.#head(from, direction, atNs);
      case 'length': {
        if (state.whole && queue.length < state.left) return false;
        const bytes = queue.take(state.left);
        state.left -= bytes.length;
        this.#current(from)?.exchange.add({ kind: 'body', from, atNs, bytes });
        if (state.left === 0) this.#done(from, atNs);
        return true;
      }
      case 'close':
        this.#current(from)?.exchange.add({ kind: 'body', from, atNs, bytes: queue.takeAll() });
        return false;
      case 'chunk-size': {
        const line = takeLine(queue);
        if (line === undefined) return queue.length > LONGEST_HEAD ? this.#lose(from, atNs, 'a chunk without its length') : false;
        const [, digits] = /^([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$/.exec(line) ?? [];
        if (digits === undefined) return this.#lose(from, atNs, 'a chunk whose length is no number', `${line}\r\n`);
        const size = Number.parseInt(digits, 16);
        direction.state = size === 0 ? { at: 'trailers' } : { at: 'chunk', left: size, begun: false, size };
        return true;
      }
      case 'chunk':
        return this.#chunk(from, direction, state, atNs);
      case 'chunk-end': {
        if (queue.length < 2) return false;
        if (queue.peek(2).toString('latin1') !== '\r\n') return this.#lose(from, atNs, 'a chunk that is longer than its length');
        queue.take(2);
        direction.state = { at: 'chunk-size' };
        return true;
      }
      case 'trailers': {
        const headers = takeHeaders(queue);
        if (headers === 'more') return queue.length > LONGEST_HEAD ? this.#lose(from, atNs, 'trailers without an end') : false;
        if (headers === undefined) return this.#lose(from, atNs, 'trailers that are none');
        this.#done(from, atNs, headers.length === 0 ? undefined : headers);
        return true;
      }
      case 'lost':
        this.#lost(from, atNs, state.why, queue.takeAll());
        return false;
    }
  }

  #head(from: Side, direction: Direction, atNs: number): boolean {
    const { queue } = direction;
    const end = queue.indexOf('\r\n\r\n');
    if (end < 0) return queue.length > LONGEST_HEAD ? this.#lose(from, atNs, 'a head without an end') : false;
    const text = queue.peek(end).toString('latin1');
    const [first = '', ...lines] = text.split('\r\n');
    const headers = headersOf(lines);
    if (headers === undefined) return this.#lose(from, atNs, 'a header that is none');
    if (from === 'client') {
      const [, method, path] = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]$/.exec(first) ?? [];
      if (method === undefined || path === undefined) return this.#lose(from, atNs, 'a request line that is none');
      queue.take(end + 4);
      const exchange = this.#begin(/^\/v1(\/|$)/.test(path) ? 'openai' : 'http');
      this.#asking = { exchange, method, requestDone: false, answerDone: false };
      this.#running.push(this.#asking);
      exchange.add({ kind: 'request', from, atNs, method, path, headers });
      direction.state = method === 'CONNECT' ? { at: 'lost', why: 'the bytes of a tunnel' } : bodyOf(headers, 'none');
    } else {
      const [, status, reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(first) ?? [];
      const running = this.#running[0];
      if (status === undefined) return this.#lose(from, atNs, 'a status line that is none');
      if (running === undefined) return this.#lose(from, atNs, 'an answer to no request');
      queue.take(end + 4);
      running.exchange.add({ kind: 'response', from, atNs, status: Number(status), reason, headers });
      direction.state = answerBody(Number(status), running.method, headers);
    }
    if (direction.state.at === 'length' && direction.state.left === 0) this.#done(from, atNs);
    return true;
  }

  #chunk(from: Side, direction: Direction, state: State & { readonly at: 'chunk' }, atNs: number): boolean {
    const bytes = direction.queue.take(state.left);
    const whole = bytes.length === state.size;
    state.left -= bytes.length;
    const part = whole ? {} : state.begun ? { more: true as const } : { announced: state.size };
    state.begun = true;
    this.#current(from)?.exchange.add({ kind: 'chunk', from, atNs, bytes, ...part });
    if (state.left === 0) direction.state = { at: 'chunk-end' };
    return true;
  }

  /** One side has said all of a request or an answer. */
  #done(from: Side, atNs: number, headers?: Headers): void {
    this.#directions[from].state = { at: 'head' };
    const running = this.#current(from);
    if (running === undefined) return;
    running.exchange.add({ kind: 'end', from, atNs, ...(headers === undefined ? {} : { headers }) });
    if (from === 'client') running.requestDone = true;
    else running.answerDone = true;
    if (!running.answerDone || !running.requestDone) return;
    this.#running.splice(this.#running.indexOf(running), 1);
    running.exchange.over();
  }

  /** What waits for more of its kind, which will not come, is no part of the protocol. */
  #cut(from: Side, atNs: number): void {
    const { queue, state } = this.#directions[from];
    if (queue.length === 0) return;
    const bytes = queue.takeAll();
    if (state.at === 'length') this.#current(from)?.exchange.add({ kind: 'body', from, atNs, bytes });
    else this.#lost(from, atNs, state.at === 'head' ? 'a head that was cut' : 'framing that was cut', bytes);
  }

  #lose(from: Side, atNs: number, why: string, before = ''): boolean {
    const direction = this.#directions[from];
    direction.state = { at: 'lost', why };
    this.#lost(from, atNs, why, Buffer.concat([Buffer.from(before, 'latin1'), direction.queue.takeAll()]));
    return false;
  }

  #lost(from: Side, atNs: number, why: string, bytes: Buffer): void {
    const exchange = this.#current(from)?.exchange ?? this.#running[0]?.exchange;
    if (exchange !== undefined) {
      exchange.add({ kind: 'bytes', from, atNs, bytes, why });
      return;
    }
    this.#rest ??= new OpaqueDecoder(this.#begin, why);
    this.#rest.bytes(from, atNs, bytes);
  }
}

function takeLine(queue: ByteQueue): string | undefined {
  const end = queue.indexOf('\r\n');
  return end < 0 ? undefined : queue.take(end + 2).toString('latin1', 0, end);
}

/** `more`: they have not come to their end. */
function takeHeaders(queue: ByteQueue): Headers | 'more' | undefined {
  if (queue.peek(2).toString('latin1') === '\r\n') {
    queue.take(2);
    return [];
  }
  const end = queue.indexOf('\r\n\r\n');
  if (end < 0) return 'more';
  const headers = headersOf(queue.peek(end).toString('latin1').split('\r\n'));
  if (headers !== undefined) queue.take(end + 4);
  return headers;
}

function headersOf(lines: readonly string[]): Headers | undefined {
  const headers = lines.map((line) => /^([^\s:]+):[ \t]*(.*?)[ \t]*$/s.exec(line));
  return headers.every((match) => match !== null) ? headers.map(([, name = '', value = '']) => [name, value] as const) : undefined;
}

function bodyOf(headers: Headers, otherwise: 'none' | 'close'): State {
  const coding = headerOf(headers, 'transfer-encoding');
  if (coding !== undefined && /(^|,)\s*chunked\s*$/i.test(coding)) return { at: 'chunk-size' };
  const length = headerOf(headers, 'content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) return { at: 'length', left: Number(length), whole: Number(length) <= WHOLE_BODY };
  return otherwise === 'close' ? { at: 'close' } : { at: 'length', left: 0, whole: true };
}

function answerBody(status: number, method: string, headers: Headers): State {
  if (status === 101 || (method === 'CONNECT' && status < 300)) return { at: 'lost', why: 'the bytes of another protocol' };
  // 100 Continue: the answer itself follows.
  if (status < 200) return { at: 'head' };
  if (method === 'HEAD' || status === 204 || status === 304) return { at: 'length', left: 0, whole: true };
  return bodyOf(headers, 'close');
}
