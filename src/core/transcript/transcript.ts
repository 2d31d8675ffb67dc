import type { Case } from '../request/index.ts';

/** Bits of `Transcript.flags`, one byte per event. */
export const FLAG = {
  /** The event carried outputs (tensors, text, a delta). Without it the event is a flag or a marker only. */
  data: 1,
  /** gRPC: response parameter triton_final_response was true, or the response was that of a unary call. */
  final: 2,
  /** The event is an error message. */
  error: 4,
  /** OpenAI: the event carried a finish_reason. */
  finish: 8,
  /** SSE: the `[DONE]` marker. */
  done: 16,
  /** OpenAI: the event carried usage. */
  usage: 32,
  /** OpenAI chat: the opening event that only names the role. */
  role: 64,
} as const;

export interface TranscriptError {
  /** Index of the event that carried it; -1 when it came instead of events (status of the call, HTTP status). */
  readonly event: number;
  /** gRPC status name (`INVALID_ARGUMENT`), `HTTP 400`, or `in-band` for an error message inside a stream. */
  readonly code: string;
  readonly message: string;
}

/** A text that a server sends whole each time did not begin with the text before it. */
export interface Revision {
  /** The event that brought the new text. */
  readonly event: number;
  /** How many characters of the text before it still stand. */
  readonly kept: number;
  /** What stood behind them, and was taken back. */
  readonly dropped: string;
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** How the exchange ended, as the transport saw it. */
export type Ending =
  /** gRPC OK, or an HTTP body that ended as its framing says. */
  | 'complete'
  /** This client cancelled, closed the connection or reached its own deadline on purpose (a cancellation case). */
  | 'cancelled'
  /** The other side ended it otherwise: error status, broken chunked framing, reset. */
  | 'broken'
  /** Our own deadline passed without an ending. */
  | 'deadline';

/**
 * All that was observed for one case. Columns, one row per event (message, chunk, SSE event), so that a load run of
 * millions of tokens meets the same laws as one request.
 *
 * Row i covers ids[idEnd[i-1] .. idEnd[i]) and text[textEnd[i-1] .. textEnd[i]).
 */
export interface Transcript {
  readonly case: Case;
  /** Ids the client sent (raw), or undefined where the server tokenizes. */
  readonly promptIds: Int32Array | undefined;
  /** The text that was sent, where text was sent. */
  readonly promptText: string | undefined;
  readonly events: number;
  /** Arrival of each event in ns since the request was sent. */
  readonly atNs: Float64Array;
  readonly flags: Uint8Array;
  readonly idEnd: Int32Array;
  readonly textEnd: Int32Array;
  /** Generated ids (raw only), in order of arrival, prompt excluded. */
  readonly ids: Int32Array;
  /**
   * Served text, concatenated in order of arrival (text routes only). Where the server sends all of it each time, an
   * event has what it added, and what was taken back later belongs to none.
   */
  readonly text: string;
  /** Empty where texts are not sent whole each time, and where each began with the one before. */
  readonly revisions: readonly Revision[];
  /** Chosen-token log-probabilities, one per id, or empty when not served or not asked for. */
  readonly logProbs: Float32Array;
  readonly cumLogProb: number | undefined;
  /** Top-1 minus top-2 log-probability per sampled step (ids, plus the step that drew EOS), or empty when not served. */
  readonly margins: Float64Array;
  /** The id in first place per sampled step, the lowest of equals, aligned with `margins`. */
  readonly winners: Int32Array;
  /** The id in second place per sampled step, aligned with `margins`. */
  readonly runnerUps: Int32Array;
  /** finish_reason values in order, with the event that carried each. */
  readonly finishReasons: readonly { readonly event: number; readonly reason: string }[];
  readonly usage: Usage | undefined;
  /** sequence_length as served, one per event with data (raw only). */
  readonly sequenceLengths: Int32Array;
  readonly errors: readonly TranscriptError[];
  readonly ending: Ending;
  readonly endedNs: number;
  /** Request ids echoed by the server that were not ours: proof of a mix-up on a shared stream. */
  readonly foreignIds: readonly string[];
  /** OpenAI: the kinds of `object` that came, each once, in order of arrival. */
  readonly objects: readonly string[];
}

/** Ids that arrived with event i. */
export function idsOfEvent(t: Transcript, i: number): Int32Array {
  return t.ids.subarray(i === 0 ? 0 : (t.idEnd[i - 1] as number), t.idEnd[i] as number);
}

/** Text that arrived with event i. */
export function textOfEvent(t: Transcript, i: number): string {
  return t.text.slice(i === 0 ? 0 : (t.textEnd[i - 1] as number), t.textEnd[i] as number);
}

/** Number of events that have all bits of `mask`. */
export function countFlag(t: Transcript, mask: number): number {
  let n = 0;
  for (let i = 0; i < t.events; i++) if (((t.flags[i] as number) & mask) === mask) n++;
  return n;
}
