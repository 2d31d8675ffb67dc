import type { CallOptions, Clients } from '#wire/clients/index.ts';
import { loadedConfig } from './loaded-config.ts';

const known = new WeakMap<Clients, Map<string, Promise<boolean>>>();

/**
 * Whether the model has the decoupled transaction policy, asked once per client. When the config cannot be had, true:
 * a stream serves either kind, and the exchange itself will show what is wrong with the server.
 */
export async function isDecoupled(clients: Clients, model: string, options: CallOptions): Promise<boolean> {
  let models = known.get(clients);
  if (models === undefined) known.set(clients, (models = new Map()));
  let answer = models.get(model);
  if (answer === undefined) {
    answer = loadedConfig(clients, model, options).then((config) => config.model_transaction_policy?.decoupled ?? false);
    models.set(model, answer);
  }
  try {
    return await answer;
  } catch (thrown) {
    models.delete(model);
    if (options.signal?.aborted) throw thrown;
    return true;
  }
}
