/** Between the thread that forwards and the one that decodes and writes. */
import type { TapEvent } from '#wire/relay/index.ts';
import type { FixtureProtocol } from '../types.ts';

export interface WriterOptions {
  readonly folder: string;
  /** host:port of each upstream, by the number of its relay. */
  readonly upstreams: readonly string[];
}

export type ToWriter =
  | { readonly kind: 'taps'; readonly taps: readonly (readonly [relay: number, event: TapEvent])[] }
  /** How many exchanges run? */
  | { readonly kind: 'running?' }
  /** No more taps come. */
  | { readonly kind: 'stop' };

export type FromWriter =
  | { readonly kind: 'done'; readonly bytes: number }
  | { readonly kind: 'running'; readonly count: number }
  | { readonly kind: 'written'; readonly path: string; readonly protocol: FixtureProtocol }
  | { readonly kind: 'tls'; readonly upstream: string }
  /** One exchange is not written, or not to its end. */
  | { readonly kind: 'lost'; readonly message: string; readonly hint: string | undefined }
  /** Everything is written; these exchanges did not end. */
  | { readonly kind: 'stopped'; readonly cut: readonly string[] };
