/** What streaming costs without this project: grpc-js, proto-loader, and a loop that looks at nothing. */
import { credentials, loadPackageDefinition, type Client, type ClientDuplexStream, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync, type Options } from '@grpc/proto-loader';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { Tensor } from '#wire/protocol/tensors.ts';

/** proto-loader's options in its README and in grpc-js's examples, and what most clients are written with. */
export const DOCUMENTED: Options = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
/** Nothing that costs: fields that are absent stay absent. */
export const LEANEST: Options = { keepCase: true };

export interface BareClient {
  /** Streams one answer and gives the number of messages. */
  drain(request: object): Promise<number>;
  /** Streams one answer and keeps the messages. */
  collect(request: object): Promise<object[]>;
  close(): void;
}

export function serviceOf(options: Options): ServiceClientConstructor {
  const definition = loadPackageDefinition(loadSync('grpc_service.proto', { ...options, includeDirs: [join(PACKAGE_ROOT, 'proto')] }));
  return (definition['inference'] as unknown as { readonly GRPCInferenceService: ServiceClientConstructor }).GRPCInferenceService;
}

export function bareClient(address: string, options: Options): BareClient {
  const client = new (serviceOf(options))(address, credentials.createInsecure()) as unknown as Client & {
    ModelStreamInfer(): ClientDuplexStream<object, object>;
  };
  const stream = (request: object, onMessage: (message: object) => void): Promise<void> => {
    const call = client.ModelStreamInfer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    call.on('data', onMessage);
    call.on('error', reject);
    call.on('end', resolve);
    call.write(request);
    call.end();
    return promise;
  };
  return {
    drain: async (request) => {
      let messages = 0;
      await stream(request, () => messages++);
      return messages;
    },
    collect: async (request) => {
      const messages: object[] = [];
      await stream(request, (message) => messages.push(message));
      return messages;
    },
    close: () => client.close(),
  };
}

/** ModelInferRequest as proto-loader takes it. */
export function bareRequest(request: { readonly model: string; readonly id: string; readonly inputs: readonly Tensor[] }): object {
  return {
    model_name: request.model,
    id: request.id,
    parameters: { triton_enable_empty_final_response: { bool_param: true } },
    inputs: request.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_input_contents: request.inputs.map(({ data }) => data),
  };
}
