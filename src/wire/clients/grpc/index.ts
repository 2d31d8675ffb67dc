import type { CallOptions, InferMessage, InferRequest } from '../types.ts';
import type { Access } from '../access.ts';
import { GrpcChannel } from './channel.ts';
import { infer, openInferCall, openInferStream } from './infer.ts';
import { grpcServerClient, type GrpcServerClient } from './server.ts';
import type { InferStream } from './stream.ts';

export type { CallStatus } from './status.ts';
export type { InferStream } from './stream.ts';
export type { GrpcServerClient } from './server.ts';

/** Triton over gRPC. */
export interface GrpcClient extends GrpcServerClient, AsyncDisposable {
  /** host:port */
  readonly address: string;
  /** ModelInfer. Errors: `grpc-<status-name>`, `target-unreachable`, `interrupted`, `response-missing`. */
  infer(request: InferRequest, options: CallOptions): Promise<InferMessage>;
  /** ModelInfer as an object: at most one message, then the raw status. */
  openInfer(request: InferRequest, options: CallOptions): { readonly call: InferStream; readonly sent: Promise<void> };
  /** ModelStreamInfer. */
  openStream(options: CallOptions): InferStream;
}

/**
 * @param address host:port or grpcs://host:port; nothing is connected before the first call
 * @param onLostEnd told of each stream that was over and did not end; undefined: every end is waited for
 */
export function grpcClient(address: string, access?: Access, onLostEnd?: () => void): GrpcClient {
  const channel = new GrpcChannel(address, access, onLostEnd);
  return {
    ...grpcServerClient(channel),
    address: channel.address,
    infer: (request, options) => infer(channel, request, options),
    openInfer: (request, options) => openInferCall(channel, request, options),
    openStream: (options) => openInferStream(channel, options),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
