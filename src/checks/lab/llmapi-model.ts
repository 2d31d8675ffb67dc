import { STOCK_MODELS, loadedConfig } from '#checks/routes/index.ts';
import type { Clients } from '#wire/clients/index.ts';

const OPTIONS = { deadlineMs: 5000 };

/**
 * The model of the LLM API, or undefined: known by its inputs, since upstream's repository calls it `tensorrt_llm`, the
 * name that the engine has elsewhere; the engine then is not there.
 */
export async function llmapiModel(clients: Clients): Promise<string | undefined> {
  for (const model of [STOCK_MODELS.llmapi, STOCK_MODELS.raw]) {
    if (!(await clients.grpc.modelReady(model, '', OPTIONS))) continue;
    const names = (await loadedConfig(clients, model, OPTIONS)).input.map(({ name }) => name);
    if (names.includes('text_input') && names.includes('sampling_param_max_tokens')) return model;
  }
  return undefined;
}
