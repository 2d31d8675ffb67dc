import { LockstepError } from '#core/errors/index.ts';
import type { CallOptions, InferMessage, InferRequest } from '../types.ts';
import type { GrpcChannel, Method } from './channel.ts';
import { decodeInferResponse, decodeStreamInferResponse } from './decode.ts';
import { encodeInferRequest } from './encode.ts';
import { InferStream } from './stream.ts';

const MODEL_INFER: Method<InferRequest, InferMessage> = {
  path: '/inference.GRPCInferenceService/ModelInfer',
  requestSerialize: encodeInferRequest,
  responseDeserialize: decodeInferResponse,
};

const MODEL_STREAM_INFER: Method<InferRequest, InferMessage> = {
  path: '/inference.GRPCInferenceService/ModelStreamInfer',
  requestSerialize: encodeInferRequest,
  responseDeserialize: decodeStreamInferResponse,
};

/** Opens a ModelStreamInfer call. Errors: `interrupted` when the signal has aborted already. */
export function openInferStream(channel: GrpcChannel, options: CallOptions): InferStream {
  return new InferStream(channel, MODEL_STREAM_INFER, options);
}

/**
 * Sends one ModelInfer and gives the call as an object: at most one message, then the status. On the wire a unary call
 * is a stream of one message each way.
 */
export function openInferCall(
  channel: GrpcChannel,
  request: InferRequest,
  options: CallOptions,
): { readonly call: InferStream; readonly sent: Promise<void> } {
  const call = new InferStream(channel, MODEL_INFER, options);
  const sent = call.send(request);
  call.halfClose();
  return { call, sent };
}

/** One ModelInfer. Errors: `grpc-<status-name>`, `target-unreachable`, `interrupted`, `response-missing`. */
export async function infer(channel: GrpcChannel, request: InferRequest, options: CallOptions): Promise<InferMessage> {
  const { call } = openInferCall(channel, request, options);
  let answer: InferMessage | undefined;
  for await (const message of call.messages) answer = message;
  if (answer !== undefined) return answer;
  throw new LockstepError('response-missing', `ModelInfer for ${request.model} on ${channel.address} ended with OK and no response`, {
    hint: 'Report this server: a unary call answers with one message or with an error.',
  });
}
