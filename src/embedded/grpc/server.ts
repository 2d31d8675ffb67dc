import { promisify } from 'node:util';
import { Server, ServerCredentials, type MethodDefinition, type ServiceDefinition } from '@grpc/grpc-js';
import { HEALTH_SERVICE, INFERENCE_SERVICE, UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';
import type { TritonCore } from '../core/index.ts';
import { listenFailed } from '#core/errors/listen-failed.ts';
import { modelInfer } from './infer.ts';
import { management } from './management.ts';
import { modelStreamInfer } from './stream.ts';

export interface GrpcServer {
  readonly port: number;
  /** Stops taking calls; those that still run after `graceMs` are cut. */
  close(graceMs: number): Promise<void>;
}

export interface GrpcServerOptions {
  readonly core: TritonCore;
  readonly host: string;
  readonly port: number;
  /** Fault ids switched on. */
  readonly faults?: ReadonlySet<string>;
}

/**
 * The gRPC front end: GRPCInferenceService with all 20 RPCs, and the health service. Port 0 = any free port.
 *
 * Errors: `listen-failed`.
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { core, faults = new Set<string>() } = options;
  const server = new Server({ ...UNLIMITED_MESSAGES });
  server.addService(withRawResponses(INFERENCE_SERVICE), {
    ...management(core),
    ModelInfer: modelInfer(core),
    ModelStreamInfer: modelStreamInfer(core, faults),
  });
  server.addService(HEALTH_SERVICE, {
    Check: (_call: unknown, callback: (error: null, value: { status: string }) => void) => {
      callback(null, { status: core.ready() ? 'SERVING' : 'NOT_SERVING' });
    },
  });
  const bind = promisify<string, ServerCredentials, number>(server.bindAsync.bind(server));
  const port = await bind(`${options.host}:${options.port}`, ServerCredentials.createInsecure()).catch((cause: Error) => {
    throw listenFailed(options, cause);
  });
  return {
    port,
    close: async (graceMs) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        server.forceShutdown();
        resolve();
      }, graceMs);
      server.tryShutdown(() => resolve());
      await promise;
      clearTimeout(timer);
    },
  };
}

/** The handlers of ModelInfer and ModelStreamInfer hand over bytes that are already in wire format. */
function withRawResponses(service: ServiceDefinition): ServiceDefinition {
  const raw = (name: string): MethodDefinition<unknown, unknown> => ({
    ...(service[name] as MethodDefinition<unknown, unknown>),
    responseSerialize: (v) => v as Buffer,
  });
  return { ...service, ModelInfer: raw('ModelInfer'), ModelStreamInfer: raw('ModelStreamInfer') };
}
