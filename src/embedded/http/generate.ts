/**
 * POST …/generate and …/generate_stream. Both answer chunked, with headers (and the status) fixed by the first news
 * from the model. Source: HandleGenerate and GenerateRequestClass, src/http_server.cc (2.51);
 * docs/observed.md#triton-2-51.
 */
import { isJsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { sseEvent } from '#wire/protocol/sse.ts';
import { CoreError, type CoreInferResponse, type InferHandle, type TritonCore } from '../core/types.ts';
import { allow, answering, bareHeaders, errorJson, type Exchange, JSON_TYPE } from './exchange.ts';
import { generateRequest } from './generate-request.ts';
import { generateJson } from './generate-response.ts';
import { parseJson } from './json-access.ts';

const NOT_ONE_RESPONSE =
  'generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses';

/**
 * Whatever the code of the error: the real server reads it after it has freed the error, and what it finds then is no
 * code that it knows (docs/observed.md#triton-2-51: 400 here where /infer answers 500).
 */
const STATUS_OF_ANY_ERROR = 400;

export interface GenerateContext {
  readonly core: TritonCore;
  readonly faults: ReadonlySet<string>;
  /** Answers to generate so far; counted for a fault alone. */
  generated: number;
}

/** What the fault http-generate-stops-answering begins with. */
const WORKERS = 8;

export async function handleGenerate(
  context: GenerateContext,
  exchange: Exchange,
  model: string,
  version: string,
  streaming: boolean,
): Promise<void> {
  if (!allow(exchange, ['POST'], JSON_TYPE)) return;
  // Fault http-generate-stops-answering: no worker is left.
  if (!streaming && context.faults.has('http-generate-stops-answering') && context.generated++ >= WORKERS) return;
  await answering(exchange, JSON_TYPE, () => {
    const { core } = context;
    const { inputs } = core.modelMetadata(model, version);
    if (!['', 'identity', undefined].includes(exchange.request.headers['content-encoding'])) {
      throw new CoreError('INVALID_ARG', "Unsupported content-encoding, only 'identity' is supported.");
    }
    const json = parseJson(exchange.body);
    const request = generateRequest(
      model,
      version,
      context.faults.has('echo-default-nonstream') && !streaming ? withoutEchoSwitch(json) : json,
      inputs,
      core.profile.core,
    );
    const answer = new GenerateAnswer(exchange, streaming, context.faults, core.profile.core);
    const handle = core.infer(request, (response, final) => answer.take(response, final), 'http-generate');
    // Fault http-close-not-seen-nonstream: the connection is looked at when there is something to write.
    const blind = !streaming && context.faults.has('http-close-not-seen-nonstream');
    answer.started(handle, core.profile.core.httpCloseSeenWhileSilent.value && !blind);
  });
}

/** Fault echo-default-nonstream: the switch that keeps the prompt out of the text is lost on the way. */
function withoutEchoSwitch(json: JsonValue): JsonValue {
  if (!isJsonObject(json)) return json;
  return new Map(
    [...json]
      .filter(([key]) => key !== 'exclude_input_in_output')
      .map(([key, value]) => [key, key === 'parameters' ? withoutEchoSwitch(value) : value]),
  );
}

class GenerateAnswer {
  private readonly exchange: Exchange;
  private readonly streaming: boolean;
  private readonly eventType: string;
  private readonly core: CoreProfile;
  private readonly cutAtEnd: boolean;
  private readonly diesOnClose: boolean;
  private handle: InferHandle | undefined;
  private calls = 0;
  private closed = false;
  private cancelled = false;
  /** Only for generate, which must know how many there are before it sends one. */
  private readonly pending: Buffer[] = [];

  constructor(exchange: Exchange, streaming: boolean, faults: ReadonlySet<string>, core: CoreProfile) {
    this.core = core;
    this.eventType = core.eventStreamType.value;
    this.exchange = exchange;
    this.streaming = streaming;
    this.cutAtEnd = streaming && faults.has('no-end-marker-in-sse');
    this.diesOnClose = streaming && faults.has('segv-generate-stream-close');
  }

  started(handle: InferHandle, closeSeenAtOnce: boolean): void {
    this.handle = handle;
    this.exchange.response.once('close', () => {
      if (this.exchange.response.writableFinished) return;
      this.closed = true;
      // Fault segv-generate-stream-close: the connection is freed here and used by the next response.
      if (this.diesOnClose) process.kill(process.pid, 'SIGSEGV');
      if (closeSeenAtOnce) this.cancel();
    });
  }

  take(response: CoreInferResponse | undefined, final: boolean): void {
    if (this.closed) {
      this.cancel();
      return;
    }
    let status = 200;
    let body: Buffer | undefined;
    if (response !== undefined) {
      try {
        body = generateJson(this.core.generateEchoesId.value ? response : { ...response, id: '' }, this.core);
      } catch (thrown) {
        if (!(thrown instanceof CoreError)) throw thrown;
        status = STATUS_OF_ANY_ERROR;
        body = errorJson(thrown.message);
      }
    }
    if (this.calls++ === 0) this.start(status);
    if (body !== undefined) {
      if (this.streaming) this.exchange.response.write(sseEvent(body));
      else this.pending.push(body);
    }
    if (final) this.end();
  }

  private start(status: number): void {
    const { response } = this.exchange;
    const close = bareHeaders(response);
    response.writeHead(status, { 'Content-Type': this.streaming ? this.eventType : JSON_TYPE, 'Transfer-Encoding': 'chunked', ...close });
    if (!this.streaming) response.flushHeaders();
  }

  private end(): void {
    const { response } = this.exchange;
    if (!this.streaming) response.write(this.pending.length === 1 ? (this.pending[0] as Buffer) : errorJson(NOT_ONE_RESPONSE));
    if (this.cutAtEnd) response.socket?.end();
    else response.end();
  }

  private cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.handle?.cancel();
  }
}
