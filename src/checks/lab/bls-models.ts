import { type RouteContext, STOCK_MODELS, loadedConfig } from '#checks/routes/index.ts';
import type { Clients } from '#wire/clients/index.ts';

const OPTIONS = { deadlineMs: 5000 };

/**
 * The BLS models of a target by the route that asks them. Which one a model serves is a setting of it, accumulate_tokens,
 * so a stock repository serves one of the two routes; the route that has no model is left out.
 */
export async function blsModels(clients: Clients): Promise<Partial<Pick<RouteContext['models'], 'bls' | 'blsAccumulate'>>> {
  const found: { bls?: string; blsAccumulate?: string } = {};
  for (const model of [STOCK_MODELS.bls, STOCK_MODELS.blsAccumulate]) {
    if (!(await clients.grpc.modelReady(model, '', OPTIONS))) continue;
    const { parameters } = await loadedConfig(clients, model, OPTIONS);
    // Upstream's spellings of true.
    const accumulates = /^(true|yes|1|t)$/i.test(parameters['accumulate_tokens']?.string_value ?? '');
    found[accumulates ? 'blsAccumulate' : 'bls'] ??= model;
  }
  return found;
}
