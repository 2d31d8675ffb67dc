/** HTTP/2 and the gRPC messages on it (RFC 9113; grpc/grpc doc/PROTOCOL-HTTP2.md). */
import { http2CodeName } from '#wire/protocol/http2-codes.ts';
import { headerOf } from '../content.ts';
import type { Headers, Side } from '../types.ts';
import { ByteQueue } from './byte-queue.ts';
import { HpackDecoder } from './hpack.ts';
import { OpaqueDecoder } from './opaque.ts';
import type { BeginExchange, ConnectionDecoder, OpenExchange } from './types.ts';

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

const FRAME = { data: 0, headers: 1, reset: 3, push: 5, goaway: 7, continuation: 9 } as const;
const FLAG = { endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;
const FRAME_HEAD = 9;
/** Flags and length before each message. */
const MESSAGE_HEAD = 5;

interface StreamSide {
  readonly queue: ByteQueue;
  encoding: string | undefined;
}

interface Stream {
  readonly exchange: OpenExchange;
  readonly grpc: boolean;
  readonly sides: Readonly<Record<Side, StreamSide>>;
  answered: boolean;
}

interface Direction {
  readonly queue: ByteQueue;
  readonly hpack: HpackDecoder;
  prefaced: boolean;
  /** Parts of a header block that has not ended. */
  block: { readonly stream: number; readonly parts: Buffer[]; readonly flags: number; readonly pushed: boolean } | undefined;
  /** Why nothing more can be read; undefined while it can. */
  lost: string | undefined;
}

const direction = (prefaced: boolean): Direction => ({
  queue: new ByteQueue(),
  hpack: new HpackDecoder(),
  prefaced,
  block: undefined,
  lost: undefined,
});

export class Http2Decoder implements ConnectionDecoder {
  readonly #begin: BeginExchange;
  readonly #streams = new Map<number, Stream>();
  readonly #directions: Readonly<Record<Side, Direction>> = { client: direction(false), server: direction(true) };
  #rest: OpaqueDecoder | undefined;

  constructor(begin: BeginExchange) {
    this.#begin = begin;
  }

  bytes(from: Side, atNs: number, bytes: Buffer): void {
    const way = this.#directions[from];
    if (way.lost !== undefined) return this.#unread(from, atNs, way.lost, bytes);
    way.queue.push(bytes);
    if (!way.prefaced) {
      if (way.queue.length < PREFACE.length) return;
      way.queue.take(PREFACE.length);
      way.prefaced = true;
    }
    while (way.lost === undefined && way.queue.length >= FRAME_HEAD) {
      const length = way.queue.peek(3).readUIntBE(0, 3);
      if (way.queue.length < FRAME_HEAD + length) break;
      const frame = way.queue.take(FRAME_HEAD + length);
      const why = this.#frame(from, way, atNs, frame);
      if (why !== undefined) {
        way.lost = why;
        this.#unread(from, atNs, why, Buffer.concat([frame, way.queue.takeAll()]));
      }
    }
  }

  end(from: Side, atNs: number): void {
    this.#cut(from, atNs);
    for (const { exchange } of this.#streams.values()) exchange.add({ kind: 'close', from, atNs });
    this.#rest?.end(from, atNs);
  }

  reset(from: Side, atNs: number, code: string): void {
    this.#cut(from, atNs);
    for (const { exchange } of this.#streams.values()) exchange.add({ kind: 'reset', from, atNs, code });
    this.#rest?.reset(from, atNs, code);
  }

  closed(atNs: number): void {
    for (const side of ['client', 'server'] as const) this.#cut(side, atNs);
    for (const id of this.#streams.keys()) this.#over(id, atNs);
    this.#rest?.closed();
  }

  /** Gives why nothing more can be read, if so. */
  #frame(from: Side, way: Direction, atNs: number, frame: Buffer): string | undefined {
    const type = frame[3]!;
    const flags = frame[4]!;
    const id = frame.readUInt32BE(5) & 0x7fffffff;
    const payload = frame.subarray(FRAME_HEAD);
    if (way.block !== undefined && type !== FRAME.continuation) return 'a header block that something else interrupts';
    switch (type) {
      case FRAME.headers:
      case FRAME.push: {
        const block = unpadded(payload, flags, type === FRAME.push ? 4 : flags & FLAG.priority ? 5 : 0);
        if (block === undefined) return 'a frame whose padding is longer than it';
        way.block = { stream: id, parts: [block], flags, pushed: type === FRAME.push };
        return flags & FLAG.endHeaders ? this.#headers(from, way, atNs) : undefined;
      }
      case FRAME.continuation:
        if (way.block === undefined || way.block.stream !== id) return 'the rest of a header block that never began';
        way.block.parts.push(payload);
        return flags & FLAG.endHeaders ? this.#headers(from, way, atNs) : undefined;
      case FRAME.data: {
        const stream = this.#streams.get(id);
        const data = unpadded(payload, flags, 0);
        if (data === undefined) return 'a frame whose padding is longer than it';
        if (stream !== undefined) this.#data(from, stream, id, atNs, data, (flags & FLAG.endStream) !== 0);
        // Frames that were under way when a stream was reset are none of its exchange.
        return undefined;
      }
      case FRAME.reset: {
        if (payload.length !== 4) return 'a frame of another length than its kind has';
        const stream = this.#streams.get(id);
        if (stream === undefined) return undefined;
        this.#messageCut(from, stream, atNs);
        stream.exchange.add({ kind: 'reset', from, atNs, code: http2CodeName(payload.readUInt32BE(0)) });
        this.#over(id, atNs);
        return undefined;
      }
      case FRAME.goaway: {
        if (payload.length < 8) return 'a frame of another length than its kind has';
        const event = {
          kind: 'goaway',
          from,
          atNs,
          code: http2CodeName(payload.readUInt32BE(4)),
          text: payload.toString('latin1', 8),
        } as const;
        for (const { exchange } of this.#streams.values()) exchange.add(event);
        return undefined;
      }
      default:
        // Settings, pings and windows carry nothing of an exchange; kinds that are unknown are to be passed over.
        return undefined;
    }
  }

  #headers(from: Side, way: Direction, atNs: number): string | undefined {
    const { stream: id, parts, flags, pushed } = way.block!;
    way.block = undefined;
    const headers = way.hpack.decode(Buffer.concat(parts));
    if (headers === undefined) return 'a header block that is none';
    if (pushed) return undefined;
    const ends = (flags & FLAG.endStream) !== 0;
    const stream = this.#streams.get(id);
    if (from === 'server') {
      if (stream !== undefined) this.#answer(stream, id, headers, ends, atNs);
      return undefined;
    }
    if (stream !== undefined) {
      this.#messageCut(from, stream, atNs);
      stream.exchange.add({ kind: 'end', from, atNs, headers });
      return undefined;
    }
    const begun = this.#request(id, headers, atNs);
    if (ends) this.#ended(from, begun, id, atNs);
    return undefined;
  }

  #request(id: number, headers: Headers, atNs: number): Stream {
    const grpc = headerOf(headers, 'content-type')?.startsWith('application/grpc') ?? false;
    const exchange = this.#begin(grpc ? 'grpc' : 'http');
    const side = (encoding?: string): StreamSide => ({ queue: new ByteQueue(), encoding });
    const stream: Stream = {
      exchange,
      grpc,
      sides: { client: side(headerOf(headers, 'grpc-encoding')), server: side() },
      answered: false,
    };
    this.#streams.set(id, stream);
    exchange.add({
      kind: 'request',
      from: 'client',
      atNs,
      ...(grpc ? {} : { method: headerOf(headers, ':method') ?? '' }),
      path: headerOf(headers, ':path') ?? '',
      headers: headers.filter(([name]) => name !== ':path'),
    });
    return stream;
  }

  #answer(stream: Stream, id: number, headers: Headers, ends: boolean, atNs: number): void {
    if (ends && (stream.answered || headerOf(headers, 'grpc-status') !== undefined)) {
      this.#messageCut('server', stream, atNs);
      stream.exchange.add({ kind: 'trailers', from: 'server', atNs, headers });
      this.#over(id, atNs);
      return;
    }
    stream.answered = true;
    stream.sides.server.encoding = headerOf(headers, 'grpc-encoding');
    const status = stream.grpc ? {} : { status: Number(headerOf(headers, ':status')) };
    stream.exchange.add({ kind: 'response', from: 'server', atNs, ...status, headers });
    if (ends) this.#ended('server', stream, id, atNs);
  }

  #data(from: Side, stream: Stream, id: number, atNs: number, data: Buffer, ends: boolean): void {
    const { queue, encoding } = stream.sides[from];
    if (!stream.grpc) {
      if (data.length > 0) stream.exchange.add({ kind: 'body', from, atNs, bytes: data });
    } else {
      queue.push(data);
      while (queue.length >= MESSAGE_HEAD) {
        const head = queue.peek(MESSAGE_HEAD);
        const compressed = head[0] !== 0;
        const length = head.readUInt32BE(1);
        if (queue.length < MESSAGE_HEAD + length) break;
        const bytes = queue.take(MESSAGE_HEAD + length).subarray(MESSAGE_HEAD);
        stream.exchange.add({ kind: 'message', from, atNs, bytes, ...(compressed ? { encoding: encoding ?? 'unnamed' } : {}) });
      }
    }
    if (ends) this.#ended(from, stream, id, atNs);
  }

  /** END_STREAM. The call is over with the server's: what a client still says then changes nothing. */
  #ended(from: Side, stream: Stream, id: number, atNs: number): void {
    this.#messageCut(from, stream, atNs);
    stream.exchange.add({ kind: 'end', from, atNs });
    if (from === 'server') this.#over(id, atNs);
  }

  #over(id: number, atNs: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    for (const side of ['client', 'server'] as const) this.#messageCut(side, stream, atNs);
    this.#streams.delete(id);
    stream.exchange.over();
  }

  #messageCut(from: Side, stream: Stream, atNs: number): void {
    const { queue } = stream.sides[from];
    if (queue.length > 0) stream.exchange.add({ kind: 'bytes', from, atNs, bytes: queue.takeAll(), why: 'a message that was cut' });
  }

  /** The part of a frame that came; of a message, it belongs to the message. */
  #cut(from: Side, atNs: number): void {
    const way = this.#directions[from];
    if (way.queue.length === 0 || way.lost !== undefined) return;
    const part = way.queue.takeAll();
    const stream = part.length >= FRAME_HEAD && part[3] === FRAME.data ? this.#streams.get(part.readUInt32BE(5) & 0x7fffffff) : undefined;
    if (stream === undefined || (part[4]! & FLAG.padded) !== 0) this.#unread(from, atNs, 'a frame that was cut', part);
    else {
      stream.sides[from].queue.push(part.subarray(FRAME_HEAD));
      this.#messageCut(from, stream, atNs);
    }
  }

  /** Bytes of no stream: they go to every exchange that they may have broken. */
  #unread(from: Side, atNs: number, why: string, bytes: Buffer): void {
    const streams = [...this.#streams.values()];
    for (const { exchange } of streams) exchange.add({ kind: 'bytes', from, atNs, bytes, why });
    if (streams.length > 0) return;
    this.#rest ??= new OpaqueDecoder(this.#begin, why);
    this.#rest.bytes(from, atNs, bytes);
  }
}

/** A payload without its padding and the `skipped` bytes before what matters; undefined when it is not that long. */
function unpadded(payload: Buffer, flags: number, skipped: number): Buffer | undefined {
  const padded = (flags & FLAG.padded) !== 0;
  const from = (padded ? 1 : 0) + skipped;
  const to = payload.length - (padded ? (payload[0] ?? 0) : 0);
  return from <= to ? payload.subarray(from, to) : undefined;
}
