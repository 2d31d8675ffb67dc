/** What a client can see of one target, as data: probes, what they asked, what came back, and the facts in it. */
export type Area = 'metadata' | 'config' | 'statistics' | 'metrics' | 'http' | 'grpc' | 'stream' | 'generate' | 'models' | 'settings';

interface HttpAsk {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** One exchange, before it is made. */
export type Ask =
  | (HttpAsk & { readonly via: 'http' })
  | (HttpAsk & { readonly via: 'metrics' })
  | { readonly via: 'grpc'; readonly rpc: string; readonly message: object }
  /** Bytes on any path, for what no client library would send. */
  | { readonly via: 'grpc-bytes'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly via: 'stream'; readonly messages: readonly object[]; readonly metadata?: Readonly<Record<string, string>> };

/**
 * What of a reply is a fact: the whole text; every value of a JSON body by its path; only which paths a body has, where the
 * values are counts; the families and labels of a metrics page; or, where the answer itself is not the matter, its frame.
 */
export type Reading = 'text' | 'values' | 'fields' | 'metrics' | 'frame';

export interface Probe {
  /** Unique, as `http/infer/unknown-model`. */
  readonly id: string;
  readonly area: Area;
  readonly ask: Ask;
  readonly read: Reading;
  /** Models without which it cannot be asked. */
  readonly needs?: readonly string[];
  /** Changes the server, so it is asked only of one that this run started. */
  readonly changes?: true;
  /** Needs a file in the shared memory that this host and the server have in common. */
  readonly sharedMemory?: true;
}

/** One exchange as text, to be read by a person. */
export interface Exchange {
  readonly request: string;
  readonly reply: string;
}

export interface Observation {
  readonly id: string;
  readonly area: Area;
  readonly exchange: Exchange;
  /** Name of a fact → its value, with what only names this server (addresses, paths, its version) taken out. */
  readonly facts: Readonly<Record<string, string>>;
  /** Facts that were not the same twice on this one server: nothing can be said about them. */
  readonly varying: Readonly<Record<string, readonly [string, string]>>;
}

export interface ContractRecord {
  readonly observations: readonly Observation[];
  readonly skipped: readonly { readonly id: string; readonly why: string }[];
}
