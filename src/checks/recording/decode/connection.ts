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
export class SniffingDecoder implements ConnectionDecoder {
  readonly #options: ConnectionOptions;
  #decoder: ConnectionDecoder | undefined;
  #first = Buffer.alloc(0);

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  bytes(from: Side, atNs: number, bytes: Buffer): void {
    if (this.#decoder === undefined && from === 'client') {
      this.#first = Buffer.concat([this.#first, bytes]);
      this.#decoder = this.#sniffed();
      if (this.#decoder !== undefined) this.#decoder.bytes(from, atNs, this.#first);
      return;
    }
    this.#known('a server that speaks first').bytes(from, atNs, bytes);
  }

  end(from: Side, atNs: number): void {
    this.#rest(atNs);
    this.#decoder?.end(from, atNs);
  }

  reset(from: Side, atNs: number, code: string): void {
    this.#rest(atNs);
    this.#decoder?.reset(from, atNs, code);
  }

  closed(atNs: number): void {
    this.#rest(atNs);
    this.#decoder?.closed(atNs);
  }

  #sniffed(): ConnectionDecoder | undefined {
    const { begin, onTls } = this.#options;
    const start = this.#first.toString('latin1', 0, PREFACE.length);
    if (start === PREFACE) return new Http2Decoder(begin);
    if (PREFACE.startsWith(start)) return undefined;
    if (/^[A-Z]+ /.test(start)) return new Http1Decoder(begin);
    if (/^[A-Z]{1,8}$/.test(start)) return undefined;
    if (this.#first[0] !== TLS_HANDSHAKE) return new OpaqueDecoder(begin, 'neither HTTP/1.1 nor HTTP/2');
    onTls();
    return new OpaqueDecoder(begin, 'TLS');
  }

  #known(why: string): ConnectionDecoder {
    this.#decoder ??= new OpaqueDecoder(this.#options.begin, why);
    return this.#decoder;
  }

  /** Of a start that says nothing yet, nothing more comes. */
  #rest(atNs: number): void {
    if (this.#decoder === undefined && this.#first.length > 0) this.#known('a start that was cut').bytes('client', atNs, this.#first);
  }
}
