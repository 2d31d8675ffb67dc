/** A fixture: one recorded exchange, message for message and chunk for chunk. docs/fixtures.md has the file format. */
import type { Answer } from '#checks/laws/types.ts';
import type { Case } from '#core/request/index.ts';

export type Side = 'client' | 'server';

/** `http` and `openai` are both HTTP/1.1; `unknown`: no decoder could read the connection, so its bytes are all there is. */
export type FixtureProtocol = 'grpc' | 'http' | 'openai' | 'unknown';

/** Names as they were on the wire, in its order; values one character per byte (latin1). */
export type Headers = readonly (readonly [name: string, value: string])[];

/** What a client asked for beside the case: the part of a route's options that is data. */
export interface Asked {
  readonly logProbs?: boolean | undefined;
  readonly margins?: boolean | undefined;
  /** How the client went away; absent: it stayed to the end. */
  readonly cancel?:
    | { readonly how: 'leave' | 'stop-tensor'; readonly afterEvents: number }
    | { readonly how: 'deadline'; readonly ms: number }
    | { readonly how: 'leave-when' }
    | undefined;
}

/** Another request to the same server, as far as it is data. */
export interface Companion {
  readonly case: Case;
  readonly asked: Asked;
}

/** What a server was asked before a case and beside it, each in the order in which it began. */
export interface Company {
  /** The last that were over when the case began. */
  readonly before: readonly Companion[];
  /** Those of which some part ran while the case did. */
  readonly beside: readonly Companion[];
}

/** What the suite found wrong with this exchange. */
export interface SeenViolation {
  /** `suite/claim`. */
  readonly claim: string;
  readonly law: string;
  readonly code: string;
  readonly text: string;
}

export interface FixtureHeader {
  readonly protocol: FixtureProtocol;
  readonly recorded: {
    /** ISO 8601, UTC. */
    readonly at: string;
    /** `relay`: from the bytes between two others; `client`: by this project's own client; `import`: made from a file, never sent. */
    readonly by: 'relay' | 'client' | 'import';
    /** host:port of the server; absent for what was never sent. */
    readonly server?: string | undefined;
  };
  /** Absent where it is not known, as with the traffic of others. */
  readonly case?: Case | undefined;
  readonly asked?: Asked | undefined;
  /** Absent: it ran alone on a new server, or nobody knows. */
  readonly company?: Company | undefined;
  /** Release profile of the server. */
  readonly profile?: string | undefined;
  /** Everything of the target that could change an answer. */
  readonly identity?: Readonly<Record<string, string>> | undefined;
  /** The accepted answer, where one was known when this was recorded. */
  readonly truth?: Answer | undefined;
  /** Absent: nothing was found wrong, or nobody looked. */
  readonly violation?: SeenViolation | undefined;
  readonly note?: string | undefined;
}

interface At {
  /** Since the first event of the exchange, monotonic, whole nanoseconds. */
  readonly atNs: number;
}

/** Opens every exchange, but for one of which only bytes are known. */
export interface RequestEvent extends At {
  readonly kind: 'request';
  readonly from: 'client';
  /** Absent on gRPC, which always posts. */
  readonly method?: string | undefined;
  /** gRPC: `/package.Service/Method`; HTTP: the target of the request line. */
  readonly path: string;
  /** gRPC: pseudo headers but `:path` included. */
  readonly headers: Headers;
}

/** Status line and headers of HTTP (also of 100 Continue), or the initial metadata of gRPC. */
export interface ResponseEvent extends At {
  readonly kind: 'response';
  readonly from: 'server';
  /** Absent on gRPC, where `:status` is among the headers. */
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly headers: Headers;
}

/** One gRPC message. */
export interface MessageEvent extends At {
  readonly kind: 'message';
  readonly from: Side;
  /** As it was on the wire, without the five bytes before it. */
  readonly bytes: Buffer;
  /** Set when the message was compressed: the name in `grpc-encoding`. */
  readonly encoding?: string | undefined;
}

/** One chunk of chunked transfer coding, or a part of one that did not come at once. */
export interface ChunkEvent extends At {
  readonly kind: 'chunk';
  readonly from: Side;
  readonly bytes: Buffer;
  /** On the first part of a chunk that came in several, or not to its end: how many bytes the chunk announced. */
  readonly announced?: number | undefined;
  /** On the other parts. */
  readonly more?: true | undefined;
}

/** A body with a length, or one that the end of the connection ends: whole, or in parts as they came when it was large. */
export interface BodyEvent extends At {
  readonly kind: 'body';
  readonly from: Side;
  readonly bytes: Buffer;
}

/** This side has said everything: END_STREAM, or the end that the framing of a body announces. */
export interface EndEvent extends At {
  readonly kind: 'end';
  readonly from: Side;
  /** Trailers of chunked transfer coding, where there were any. */
  readonly headers?: Headers | undefined;
}

/** gRPC: trailing metadata with `grpc-status`; without a response before it, the answer was trailers only. Ends the exchange. */
export interface TrailersEvent extends At {
  readonly kind: 'trailers';
  readonly from: 'server';
  readonly headers: Headers;
}

/** The exchange was broken off. */
export interface ResetEvent extends At {
  readonly kind: 'reset';
  readonly from: Side;
  /** RST_STREAM's code by its name (`CANCEL`), or `ECONNRESET` when the connection was. */
  readonly code: string;
}

/** The connection was closed. */
export interface CloseEvent extends At {
  readonly kind: 'close';
  readonly from: Side;
}

/** HTTP/2 GOAWAY while the exchange ran. */
export interface GoAwayEvent extends At {
  readonly kind: 'goaway';
  readonly from: Side;
  readonly code: string;
  readonly text: string;
}

/** Bytes that are no part of the protocol, or of a message that was cut. */
export interface BytesEvent extends At {
  readonly kind: 'bytes';
  readonly from: Side;
  readonly bytes: Buffer;
  /** Why they could not be read, as a phrase. */
  readonly why: string;
}

export type FixtureEvent =
  | RequestEvent
  | ResponseEvent
  | MessageEvent
  | ChunkEvent
  | BodyEvent
  | EndEvent
  | TrailersEvent
  | ResetEvent
  | CloseEvent
  | GoAwayEvent
  | BytesEvent;

export interface Fixture {
  readonly header: FixtureHeader;
  readonly events: readonly FixtureEvent[];
}
