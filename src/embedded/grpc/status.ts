import { type Metadata, status } from '@grpc/grpc-js';
import { CoreError, type CoreErrorCode } from '../core/index.ts';

/** Core code → gRPC status (server `src/grpc/grpc_utils.cc`). */
export const GRPC_STATUS: Readonly<Record<CoreErrorCode, status>> = {
  UNKNOWN: status.UNKNOWN,
  INTERNAL: status.INTERNAL,
  NOT_FOUND: status.NOT_FOUND,
  INVALID_ARG: status.INVALID_ARGUMENT,
  UNAVAILABLE: status.UNAVAILABLE,
  UNSUPPORTED: status.UNIMPLEMENTED,
  ALREADY_EXISTS: status.ALREADY_EXISTS,
  CANCELLED: status.CANCELLED,
};

export interface GrpcError {
  readonly code: status;
  readonly details: string;
  readonly metadata?: Metadata;
}

/** What grpc-js wants for a failed call. Anything that is no CoreError is this server's own bug: INTERNAL. */
export function grpcError(thrown: unknown): GrpcError {
  if (thrown instanceof CoreError) return { code: GRPC_STATUS[thrown.code], details: thrown.message };
  return { code: status.INTERNAL, details: thrown instanceof Error ? thrown.message : String(thrown) };
}
