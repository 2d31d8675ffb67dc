/**
 * Triton's gRPC services as grpc-js wants them, for client and server alike. Loaded once: field names as in proto/,
 * 64-bit numbers as decimal strings, enums as names, defaults filled in, oneofs with their discriminator.
 */
import { loadPackageDefinition, type GrpcObject, type ServiceClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { PROTO_DIR } from './config-schema.ts';

const grpc: GrpcObject = loadPackageDefinition(
  loadSync(['grpc_service.proto', 'health.proto'], {
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
    includeDirs: [PROTO_DIR],
  }),
);

function clientOf(path: string): ServiceClientConstructor {
  return path.split('.').reduce<GrpcObject>((at, part) => at[part] as GrpcObject, grpc) as unknown as ServiceClientConstructor;
}

/** Untyped client constructors: `new GrpcInferenceClient(address, credentials, options)`. */
export const GrpcInferenceClient: ServiceClientConstructor = clientOf('inference.GRPCInferenceService');
export const GrpcHealthClient: ServiceClientConstructor = clientOf('grpc.health.v1.Health');

export const INFERENCE_SERVICE: ServiceDefinition = GrpcInferenceClient.service;
export const HEALTH_SERVICE: ServiceDefinition = GrpcHealthClient.service;

/** Both directions without a limit, as the server and NVIDIA's client set it (INT32_MAX upstream). */
export const UNLIMITED_MESSAGES = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 } as const;
