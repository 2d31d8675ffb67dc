import type { CallOptions, Clients } from '#wire/clients/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';

/**
 * A model's configuration as loaded. Over gRPC, front ends that are older than their core answer OK and nothing for a configuration with
 * a field that they do not know; then it is HTTP's, which passes it on unread. Errors: those of clients.
 */
export async function loadedConfig(clients: Clients, model: string, options: CallOptions): Promise<ModelConfig> {
  const config = await clients.grpc.modelConfig(model, '', options);
  return config.name === '' ? clients.http.modelConfig(model, '', options) : config;
}
