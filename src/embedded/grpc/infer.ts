import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { CoreError, type CoreInferResponse, type TritonCore } from '../core/index.ts';
import { readInferRequest } from './infer-request.ts';
import { ResponseEncoder } from './infer-response.ts';
import { placeOutputs } from './shared-memory.ts';
import { grpcError } from './status.ts';

/**
 * ModelInfer: one request, one response. UNIMPLEMENTED for decoupled models, before anything else about the request is
 * looked at. A cancelled call marks the request cancelled.
 */
export function modelInfer(core: TritonCore) {
  return (call: ServerUnaryCall<ModelInferRequest, Buffer>, callback: sendUnaryData<Buffer>): void => {
    try {
      const { request: message } = call;
      if (core.isDecoupled(message.model_name, message.model_version)) {
        throw new CoreError('UNSUPPORTED', "ModelInfer RPC doesn't support models with decoupled transaction policy");
      }
      const request = readInferRequest(message, core);
      const responses: CoreInferResponse[] = [];
      const handle = core.infer(
        request.core,
        (response, final) => {
          if (response !== undefined) responses.push(response);
          if (!final) return;
          const [only] = responses;
          if (only?.error !== undefined) callback(grpcError(only.error));
          else if (only === undefined || responses.length > 1)
            callback(grpcError(new CoreError('INTERNAL', `expected a single response, got ${responses.length}`)));
          else {
            try {
              placeOutputs(core.sharedMemory, only, request.placements);
              callback(null, new ResponseEncoder(message.id, request.placements).unary(only, undefined));
            } catch (thrown) {
              callback(grpcError(thrown));
            }
          }
        },
        'grpc',
      );
      call.on('cancelled', () => handle.cancel());
    } catch (thrown) {
      callback(grpcError(thrown));
    }
  };
}
