import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { CoreError, type CoreInferResponse, type InferHandle, type TritonCore } from '../core/index.ts';
import { readInferRequest, type ReadRequest } from './infer-request.ts';
import { ResponseEncoder } from './infer-response.ts';
import { placeOutputs } from './shared-memory.ts';
import { grpcError } from './status.ts';

type Call = ServerDuplexStream<ModelInferRequest, Buffer>;

/**
 * ModelStreamInfer: any number of requests on one stream, their responses interleaved, in order per request.
 *
 * Every message carries `triton_final_response`; a flag-only end is written only for requests with
 * `triton_enable_empty_final_response`. Errors are in-band and the stream goes on, unless the stream's metadata has
 * `triton_grpc_error: true`: then the first error of a model ends it with its status. Half-close: the stream ends with
 * OK when the pending requests have ended. Cancel and deadline mark every request of the stream cancelled.
 */
export function modelStreamInfer(core: TritonCore, faults: ReadonlySet<string>) {
  const ofConnection = new Map<string, Set<InferHandle>>();
  return (call: Call): void => {
    const handles = ofConnection.get(call.getPeer()) ?? new Set<InferHandle>();
    // Fault cancel-reaches-whole-connection: what runs is kept per connection, not per stream.
    if (faults.has('cancel-reaches-whole-connection')) ofConnection.set(call.getPeer(), handles);
    new InferStream(core, call, handles, faults).listen();
  };
}

class InferStream {
  readonly #core: TritonCore;
  readonly #call: Call;
  readonly #endsOnError: boolean;
  readonly #faults: ReadonlySet<string>;
  readonly #handles: Set<InferHandle>;
  /** Messages that wait for the transport; one drain listener serves the whole stream. */
  readonly #waiting: Buffer[] = [];
  #blocked = false;
  #pending = 0;
  #halfClosed = false;
  #over = false;
  /** Fault segv-grpc-low-cancel-timeout: between the last response and the status. */
  #completing: NodeJS.Timeout | undefined;

  constructor(core: TritonCore, call: Call, handles: Set<InferHandle>, faults: ReadonlySet<string>) {
    this.#handles = handles;
    this.#faults = faults;
    this.#core = core;
    this.#call = call;
    this.#endsOnError = call.metadata.get('triton_grpc_error')[0] === 'true';
  }

  listen(): void {
    const call = this.#call;
    call.on('data', (message: ModelInferRequest) => this.#take(message));
    // On a cancelled call grpc-js emits `end` first and `cancelled` after it: `end` alone proves no half-close. It
    // matters to nobody, since a call that only looks half-closed still waits for its pending requests.
    call.on('end', () => {
      this.#halfClosed = true;
      this.#endWhenDone();
    });
    call.on('cancelled', () => this.#abandon());
    call.on('error', () => this.#abandon());
    call.on('drain', () => this.#drain());
  }

  #take(message: ModelInferRequest): void {
    if (this.#over) return;
    // Fault request-id-not-in-response: responses are made without the id of their request.
    const id = this.#faults.has('request-id-not-in-response') ? '' : message.id;
    const encoder = new ResponseEncoder(id, NO_PLACEMENTS);
    this.#pending++;
    let handle: InferHandle | undefined;
    const close = (): void => {
      if (handle !== undefined) this.#handles.delete(handle);
      this.#pending--;
      this.#endWhenDone();
    };
    try {
      // The model is looked up before the rest of the request is read.
      this.#core.isDecoupled(message.model_name, message.model_version);
      const request = readInferRequest(message, this.#core);
      const own = request.placements.size === 0 ? encoder : new ResponseEncoder(id, request.placements);
      handle = this.#core.infer(
        request.core,
        (response, final) => {
          // Fault final-flag-always-false-go: the flag is only set for requests that opted in to empty final responses.
          const flagged = final && (request.wantsEmptyFinal || !this.#faults.has('final-flag-always-false-go'));
          this.#answer(message, request, own, response, flagged);
          if (final) close();
        },
        'grpc',
      );
      this.#handles.add(handle);
    } catch (thrown) {
      this.#write(encoder.refused(thrown instanceof CoreError ? thrown.message : String(thrown)));
      close();
    }
  }

  #answer(
    message: ModelInferRequest,
    request: ReadRequest,
    encoder: ResponseEncoder,
    response: CoreInferResponse | undefined,
    final: boolean,
  ): void {
    if (this.#over) return;
    if (response === undefined) {
      // Fault bls-no-final-flag: a flag that comes alone is not sent, whether the client asked for it or not.
      if (request.wantsEmptyFinal && !this.#faults.has('bls-no-final-flag'))
        this.#write(encoder.flagOnly(message.model_name, message.model_version));
      return;
    }
    if (response.error !== undefined) {
      this.#fail(response.error, message, encoder, final);
      return;
    }
    try {
      placeOutputs(this.#core.sharedMemory, response, request.placements);
      this.#write(encoder.streamed(response, final));
    } catch (thrown) {
      this.#fail(thrown, message, encoder, final);
    }
  }

  #fail(thrown: unknown, message: ModelInferRequest, encoder: ResponseEncoder, final: boolean): void {
    const error = grpcError(thrown);
    if (!this.#endsOnError) {
      this.#write(encoder.failed(error.details, message.model_name, message.model_version, final));
      return;
    }
    for (const waiting of this.#waiting.splice(0)) this.#call.write(waiting);
    this.#abandon();
    this.#call.emit('error', error);
  }

  #write(message: Buffer): void {
    if (this.#over) return;
    if (this.#blocked) this.#waiting.push(message);
    else if (!this.#call.write(message)) this.#blocked = true;
  }

  #drain(): void {
    this.#blocked = false;
    while (!this.#blocked && this.#waiting.length > 0) this.#write(this.#waiting.shift() as Buffer);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (this.#over || !this.#halfClosed || this.#pending > 0 || this.#waiting.length > 0) return;
    if (!this.#faults.has('segv-grpc-low-cancel-timeout')) {
      this.#over = true;
      this.#call.end();
      return;
    }
    // Fault: what belongs to the request is freed with its last response; the status leaves from another thread.
    this.#completing ??= setTimeout(() => {
      this.#completing = undefined;
      this.#over = true;
      this.#call.end();
    }, COMPLETION_MS);
  }

  #abandon(): void {
    // Fault segv-grpc-low-cancel-timeout: the cancel uses what the last response freed.
    if (this.#completing !== undefined) process.kill(process.pid, 'SIGSEGV');
    this.#over = true;
    this.#waiting.length = 0;
    const handles = [...this.#handles];
    this.#handles.clear();
    for (const handle of handles) handle.cancel();
  }
}

/** So long is the moment of completion under the fault segv-grpc-low-cancel-timeout. */
const COMPLETION_MS = 25;
const NO_PLACEMENTS: ReadRequest['placements'] = new Map();
