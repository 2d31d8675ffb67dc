import type { Side } from '../types.ts';
import { Http1Decoder } from './http1.ts';
import { Http2Decoder, PREFACE } from './http2.ts';
import { OpaqueDecoder } from './opaque.ts';
import type { BeginExchange, ConnectionDecoder } from './types.ts';

/** First byte of a TLS record with a handshake (RFC 8446, section 5.1). */
const TLS_HANDSHAKE = 0x16;

export interface ConnectionOptions {
  readonly begin: BeginExchange;
  /** Told when the connection turns out to be TLS, of which nothing can be read. */
  readonly onTls: () => void;
}

/** Finds out by the client's first bytes what is spoken, and has it decoded. */
/** Servers of HTTP/2 greet with settings before a client has spoken; who says more than this speaks another protocol. */
const LONGEST_GREETING = 64 * 1024;

/** Finds out by the client's first bytes what is spoken, and has it decoded. */
export class SniffingDecoder implements ConnectionDecoder {
  readonly #options: ConnectionOptions;
  #decoder: ConnectionDecoder | undefined;
  #waiting: { readonly from: Side; readonly atNs: number; readonly bytes: Buffer }[] = [];

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  bytes(from: Side, atNs: number, bytes: Buffer): void {
    if (this.#decoder !== undefined) {
      this.#decoder.bytes(from, atNs, bytes);
      return;
    }
    this.#waiting.push({ from, atNs, bytes });
    const decoder = this.#sniffed(this.#waitingOf('client')) ?? this.#greeted(this.#waitingOf('server'));
    if (decoder !== undefined) this.#settle(decoder);
  }

  end(from: Side, atNs: number): void {
    this.#settleAtEnd();
    this.#decoder?.end(from, atNs);
  }

  reset(from: Side, atNs: number, code: string): void {
    this.#settleAtEnd();
    this.#decoder?.reset(from, atNs, code);
  }

  closed(atNs: number): void {
    this.#settleAtEnd();
    this.#decoder?.closed(atNs);
  }

  #waitingOf(side: Side): Buffer {
    return Buffer.concat(this.#waiting.filter(({ from }) => from === side).map(({ bytes }) => bytes));
  }

  #sniffed(first: Buffer): ConnectionDecoder | undefined {
    const { begin, onTls } = this.#options;
    const start = first.toString('latin1', 0, PREFACE.length);
    if (start === PREFACE) return new Http2Decoder(begin);
    if (PREFACE.startsWith(start)) return undefined;
    if (/^[A-Z]+ /.test(start)) return new Http1Decoder(begin);
    if (/^[A-Z]{1,8}$/.test(start)) return undefined;
    if (first[0] !== TLS_HANDSHAKE) return new OpaqueDecoder(begin, 'neither HTTP/1.1 nor HTTP/2');
    onTls();
    return new OpaqueDecoder(begin, 'TLS');
  }

  #greeted(greeting: Buffer): ConnectionDecoder | undefined {
    return greeting.length > LONGEST_GREETING ? new OpaqueDecoder(this.#options.begin, 'a server that speaks first') : undefined;
  }

  #settle(decoder: ConnectionDecoder): void {
    this.#decoder = decoder;
    for (const { from, atNs, bytes } of this.#waiting.splice(0)) decoder.bytes(from, atNs, bytes);
  }

  /** Of what says nothing yet, nothing more comes. */
  #settleAtEnd(): void {
    if (this.#decoder === undefined && this.#waiting.length > 0)
      this.#settle(new OpaqueDecoder(this.#options.begin, 'a start that was cut'));
  }
}
