import type { ClientDuplexStream } from '@grpc/grpc-js';
import { LockstepError } from '#core/errors/index.ts';
import { Arrivals } from '../arrivals.ts';
import type { CallOptions, InferMessage, InferRequest } from '../types.ts';
import type { GrpcChannel, Method } from './channel.ts';
import { type CallStatus, callStatus, interrupted, STATUS_OK, statusError } from './status.ts';

/** How long the end of a stream may take after the last message, where ends get lost; they come within milliseconds. */
const LOST_END_MS = 1000;

/**
 * An inference call as an object: requests in, messages out, the raw status at the end.
 *
 * The server sees a cancel when the reader of `messages` leaves early, when the signal aborts, when the deadline
 * passes and when the object is disposed before its end.
 */
export class InferStream implements AsyncDisposable {
  /**
   * Messages in order of arrival, those of `infer` left out. Ends with status OK or after `cancel()`.
   *
   * Errors: `grpc-<status-name>`, `target-unreachable`, `interrupted`.
   */
  readonly messages: AsyncIterableIterator<InferMessage, undefined>;
  /** How the call ended; never rejects. */
  readonly status: Promise<CallStatus>;
  readonly #call: ClientDuplexStream<InferRequest, InferMessage>;
  readonly #unclaimed: Arrivals<InferMessage>;
  readonly #claims = new Map<string, Arrivals<InferMessage>>();
  readonly #onLostEnd: (() => void) | undefined;
  #cancelled = false;
  #ended = false;
  /** Requests that have not had their last message. */
  #open = 0;
  #halfClosed = false;
  #endTimer: NodeJS.Timeout | undefined;
  #endNow: () => void = () => {};

  constructor(channel: GrpcChannel, method: Method<InferRequest, InferMessage>, options: CallOptions) {
    const where = { method: method.path, address: channel.address };
    if (options.signal?.aborted) throw interrupted(where, options.signal);
    const call = channel.open(method, options);
    this.#call = call;
    this.#onLostEnd = channel.onLostEnd;
    this.#unclaimed = new Arrivals(() => this.cancel());
    this.messages = this.#unclaimed;
    const { promise, resolve } = Promise.withResolvers<CallStatus>();
    this.status = promise;
    const onAbort = (): void => call.cancel();
    options.signal?.addEventListener('abort', onAbort, { once: true });

    let status: CallStatus | undefined;
    let dataEnded = false;
    const finish = (): void => {
      if (status === undefined || this.#ended) return;
      this.#ended = true;
      clearTimeout(this.#endTimer);
      options.signal?.removeEventListener('abort', onAbort);
      const error = this.#endError(status, where, options.signal);
      this.#unclaimed.end(error);
      for (const claim of this.#claims.values()) claim.end(error);
      this.#claims.clear();
      resolve(status);
    };
    this.#endNow = () => {
      status = callStatus({ code: STATUS_OK, details: '' });
      finish();
      call.cancel();
    };
    call.on('data', (message: InferMessage) => this.#deliver(message));
    call.on('end', () => {
      dataEnded = true;
      finish();
    });
    // A missing listener would throw; the status event says the same.
    call.on('error', () => {});
    call.on('status', (raw) => {
      status = callStatus(raw, channel.access);
      // The status may overtake messages that wait in the stream; after a failure `end` need not come.
      if (dataEnded) finish();
      else if (status.code !== STATUS_OK) setImmediate(finish);
    });
  }

  /** Resolves when the request was handed to the connection, and also when the call ended before that. */
  send(request: InferRequest): Promise<void> {
    const sent = Promise.withResolvers<void>();
    this.#open++;
    this.#call.write(request, () => sent.resolve());
    void this.status.then(() => sent.resolve());
    return sent.promise;
  }

  /**
   * Sends one request of several on this stream and gives its messages alone, told apart by id, up to its final
   * message (or the refusal, which carries no final flag). Set triton_enable_empty_final_response, or a model that
   * ends with a bare flag never ends here. Leaving early drops later messages: gRPC cannot cancel one request of many.
   *
   * Errors: `request-id-in-use`, and those of `messages`.
   */
  infer(request: InferRequest): AsyncIterable<InferMessage> {
    if (request.id === '' || this.#claims.has(request.id)) {
      throw new LockstepError('request-id-in-use', `"${request.id}" cannot tell requests on this stream apart`, {
        hint: 'Give every request on a shared stream its own id.',
      });
    }
    const claim = new Arrivals<InferMessage>(() => {});
    if (this.#ended)
      claim.end(
        new LockstepError('stream-ended', 'the stream has already ended', {
          hint: 'Await `status` for the reason, and open another stream.',
        }),
      );
    else this.#claims.set(request.id, claim);
    void this.send(request);
    return claim;
  }

  /** No more requests; the server answers those in flight and ends with OK. */
  halfClose(): void {
    this.#halfClosed = true;
    this.#call.end();
    this.#watchForEnd();
  }

  /** Cancels every request on the stream; what arrived before can still be read. */
  cancel(): void {
    if (this.#ended) return;
    this.#cancelled = true;
    this.#call.cancel();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    await this.status;
  }

  /** Everything has been said: where ends get lost, this one is given a moment. */
  #watchForEnd(): void {
    const onLostEnd = this.#onLostEnd;
    if (onLostEnd === undefined || !this.#halfClosed || this.#open > 0 || this.#endTimer !== undefined) return;
    this.#endTimer = setTimeout(() => {
      if (this.#ended) return;
      onLostEnd();
      this.#endNow();
    }, LOST_END_MS);
  }

  #deliver(message: InferMessage): void {
    if (message.final === true || (message.errorMessage !== undefined && message.final === undefined)) {
      this.#open--;
      this.#watchForEnd();
    }
    const claim = this.#claims.size === 0 ? undefined : this.#claims.get(message.id);
    if (claim === undefined) {
      this.#unclaimed.push(message);
      return;
    }
    claim.push(message);
    if (message.final === true || (message.errorMessage !== undefined && message.final === undefined)) {
      this.#claims.delete(message.id);
      claim.end();
    }
  }

  #endError(status: CallStatus, call: { method: string; address: string }, signal: AbortSignal | undefined): LockstepError | undefined {
    if (signal?.aborted) return interrupted(call, signal);
    if (status.code === STATUS_OK || this.#cancelled) return undefined;
    return statusError(status, call);
  }
}
