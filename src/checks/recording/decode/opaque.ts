import type { Side } from '../types.ts';
import type { BeginExchange, ConnectionDecoder, OpenExchange } from './types.ts';

/** A connection of which nothing but the bytes can be told: one exchange, as long as it lasts. */
export class OpaqueDecoder implements ConnectionDecoder {
  readonly #begin: BeginExchange;
  readonly #why: string;
  #exchange: OpenExchange | undefined;

  constructor(begin: BeginExchange, why: string) {
    this.#begin = begin;
    this.#why = why;
  }

  bytes(from: Side, atNs: number, bytes: Buffer): void {
    this.#open().add({ kind: 'bytes', from, atNs, bytes, why: this.#why });
  }

  end(from: Side, atNs: number): void {
    this.#exchange?.add({ kind: 'close', from, atNs });
  }

  reset(from: Side, atNs: number, code: string): void {
    this.#exchange?.add({ kind: 'reset', from, atNs, code });
  }

  closed(): void {
    this.#exchange?.over();
    this.#exchange = undefined;
  }

  #open(): OpenExchange {
    this.#exchange ??= this.#begin('unknown');
    return this.#exchange;
  }
}
