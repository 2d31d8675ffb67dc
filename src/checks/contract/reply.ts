/** What came back on a probe, whichever way it was asked. */
export interface Reply {
  /** `200`, `OK`, `INVALID_ARGUMENT`; `no answer within 3000 ms`; `connection broken`. */
  readonly status: string;
  /** Content type of an HTTP body; the text of a gRPC status. */
  readonly type: string;
  /** Names of the HTTP headers beside it, sorted. */
  readonly headers: readonly string[];
  /** HTTP body, or a gRPC message as JSON. */
  readonly body: string;
  /** The messages of a stream, each as one line. */
  readonly messages: readonly string[];
}

export const NO_ANSWER = 'no answer';
export const BROKEN = 'connection broken';

export function reply(status: string, rest: Partial<Reply> = {}): Reply {
  return { status, type: '', headers: [], body: '', messages: [], ...rest };
}
