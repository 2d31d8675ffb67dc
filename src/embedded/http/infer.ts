/** POST …/infer. Source: HandleInfer and InferRequestClass, src/http_server.cc (2.51). */
import { CoreError, type CoreInferResponse, type TritonCore } from '../core/types.ts';
import { compress, decompress, requestCoding, responseCoding, UNKNOWN_CODING } from './compression.ts';
import type { GenerateContext } from './generate.ts';
import { allow, DEFAULT_TYPE, type Exchange, JSON_TYPE, reply, replyError } from './exchange.ts';
import { type InferBody, inferBody, inferenceHeaderLength, rawInferBody } from './infer-request.ts';
import { inferAnswer, type InferAnswer } from './infer-response.ts';

export function handleInfer({ core, faults }: GenerateContext, exchange: Exchange, model: string, version: string): void {
  if (!allow(exchange, ['POST'])) return;
  const { headers } = exchange.request;
  let body: Buffer;
  let headerLength: number;
  try {
    if (core.isDecoupled(model, version))
      throw new CoreError('UNSUPPORTED', "HTTP end point doesn't support models with decoupled transaction policy");
    body = decompress(requestCoding(headers['content-encoding']), exchange.body);
    headerLength = inferenceHeaderLength(single(headers['inference-header-content-length']), body.length);
  } catch (thrown) {
    // Refused before the request object exists: the type was never set.
    const unknownCoding = thrown instanceof CoreError && thrown.message === UNKNOWN_CODING;
    if (unknownCoding && core.profile.core.unknownCodingStatus.value === 415) return reply(exchange, 415);
    replyError(exchange, thrown, DEFAULT_TYPE, unknownCoding ? { 'Accept-Encoding': 'gzip, deflate' } : {});
    return;
  }
  try {
    const asked =
      headerLength === 0
        ? rawInferBody(model, version, body, core.modelMetadata(model, version).inputs)
        : inferBody(model, version, body, headerLength, core.sharedMemory);
    const answer = new UnaryAnswer(core, exchange, asked);
    const handle = core.infer(asked.request, (response, final) => answer.take(response, final), 'http-infer');
    // A closed connection is seen only when the one response is there, and then it is too late to cancel.
    // Fault http-close-not-seen-nonstream: whatever the release.
    if (core.profile.core.httpCloseSeenWhileSilent.value && !faults.has('http-close-not-seen-nonstream')) {
      exchange.response.once('close', () => {
        if (!exchange.response.writableFinished) handle.cancel();
      });
    }
  } catch (thrown) {
    replyError(exchange, thrown, JSON_TYPE);
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Waits for the final flag; exactly one response is expected. */
class UnaryAnswer {
  private readonly core: TritonCore;
  private readonly exchange: Exchange;
  private readonly asked: InferBody;
  private count = 0;
  private answer: InferAnswer | undefined;
  private error: unknown;

  constructor(core: TritonCore, exchange: Exchange, asked: InferBody) {
    this.core = core;
    this.exchange = exchange;
    this.asked = asked;
  }

  take(response: CoreInferResponse | undefined, final: boolean): void {
    if (response !== undefined) this.count++;
    try {
      if (this.count !== 1) throw new CoreError('INTERNAL', `expected a single response, got ${this.count}`);
      if (response !== undefined)
        this.answer = inferAnswer(response, this.asked, this.batched(response.modelName, response.modelVersion), this.core.sharedMemory);
    } catch (thrown) {
      this.error = thrown;
    }
    if (!final || this.exchange.response.destroyed) return;
    if (this.error === undefined && this.answer !== undefined) this.send(this.answer);
    else replyError(this.exchange, this.error);
  }

  private batched(model: string, version: string): boolean {
    const classifies = [...this.asked.forms.values()].some((form) => form.kind !== 'shared-memory' && form.classes > 0);
    return classifies && this.core.modelConfig(model, version).max_batch_size > 0;
  }

  private send(answer: InferAnswer): void {
    const coding = responseCoding(single(this.exchange.request.headers['accept-encoding']));
    const headers: Record<string, string> = {};
    if (answer.headerLength !== undefined) headers['Inference-Header-Content-Length'] = String(answer.headerLength);
    if (coding !== 'identity') headers['Content-Encoding'] = coding;
    reply(
      this.exchange,
      200,
      compress(coding, answer.body),
      answer.headerLength === undefined ? JSON_TYPE : 'application/octet-stream',
      headers,
    );
  }
}
