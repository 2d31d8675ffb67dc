import { type RouteContext, STOCK_MODELS, loadedConfig } from '#checks/routes/index.ts';
import { servedPromptIds } from '#checks/laws/index.ts';
import { misfit, type ReleaseProfile } from '#core/profile/index.ts';
import { ROUTE_IDS, type Request, type RouteId } from '#core/request/index.ts';
import type { ClientEndpoints, Clients } from '#wire/clients/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { blsModels } from './bls-models.ts';
import { llmapiModel } from './llmapi-model.ts';

/** What a target was found to serve. */
export interface Serving {
  readonly notServed: ReadonlyMap<RouteId, string>;
  readonly models: RouteContext['models'];
  readonly decoupled: boolean;
  readonly ensembleOutputs: ReadonlySet<string>;
  readonly rawParameters: Readonly<Record<string, string>>;
}

const OPTIONS = { deadlineMs: 5000 };
const OPENAI_ROUTES: readonly RouteId[] = ['openai-completions', 'openai-chat'];

/** Asks a Triton which models it has, and of what kind they are. Errors: those of clients. */
export async function servingOf(clients: Clients, endpoints: ClientEndpoints, profile: ReleaseProfile): Promise<Serving> {
  const notServed = new Map<RouteId, string>();
  for (const [route, model] of [
    ['raw', 'tensorrt_llm'],
    ['ensemble', 'ensemble'],
    ['generate', 'ensemble'],
  ] as const) {
    if (!(await clients.grpc.modelReady(model, '', OPTIONS))) notServed.set(route, `the target has no model ${model}`);
  }
  const { core } = profile;
  if (!core.ensembleRunsWithoutOptionalInputs.value) {
    const silent = `ensembles of Triton ${core.id} run no step whose optional inputs were not sent`;
    for (const route of ['ensemble', 'generate'] as const) notServed.set(route, silent);
  }
  if (!core.generate.value) notServed.set('generate', `Triton ${core.id} has no generate`);
  const ownBls = await blsModels(clients);
  if (ownBls.bls === undefined) notServed.set('bls', 'the target has no tensorrt_llm_bls without accumulate_tokens');
  if (ownBls.blsAccumulate === undefined) notServed.set('bls-accumulate', 'the target has no tensorrt_llm_bls with accumulate_tokens');
  const ownLlmapi = await llmapiModel(clients);
  if (ownLlmapi === undefined) notServed.set('llmapi', 'the target has no model of the LLM API (text_input, sampling_param_max_tokens)');
  if (ownLlmapi === STOCK_MODELS.raw) notServed.set('raw', `${STOCK_MODELS.raw} is the LLM API's model here, which shows no ids`);
  const noFrontEnd = endpoints.openai === undefined ? 'the target has no OpenAI front end' : misfit(profile);
  if (noFrontEnd !== undefined) for (const route of OPENAI_ROUTES) notServed.set(route, noFrontEnd);
  const raw = notServed.has('raw') ? undefined : await loadedConfig(clients, 'tensorrt_llm', OPTIONS);
  // Where the LLM API's model is all there is, it says whether anything streams.
  const engine = raw ?? (ownLlmapi === undefined ? undefined : await loadedConfig(clients, ownLlmapi, OPTIONS));
  const ensemble = notServed.has('ensemble') ? undefined : await loadedConfig(clients, 'ensemble', OPTIONS);
  return {
    notServed,
    ensembleOutputs: new Set((ensemble?.output ?? []).map((output) => output.name)),
    models: { ...STOCK_MODELS, ...ownBls, ...(ownLlmapi === undefined ? {} : { llmapi: ownLlmapi }) },
    decoupled: engine?.model_transaction_policy?.decoupled === true,
    rawParameters: Object.fromEntries(Object.entries(raw?.parameters ?? {}).map(([key, value]) => [key, value.string_value])),
  };
}

/**
 * What can be asked where an OpenAI front end is all that is known: its first model, and, where goldens are to judge,
 * the routes on which it gives the engine the prompt that they were recorded with.
 */
export async function frontEndServing(
  clients: Clients,
  profile: ReleaseProfile,
  judgedBy: { readonly goldens: boolean; readonly tokenizer: Tokenizer },
): Promise<Serving> {
  const notServed = new Map<RouteId, string>();
  for (const route of ROUTE_IDS)
    if (!OPENAI_ROUTES.includes(route)) notServed.set(route, 'only the OpenAI front end of this target is known');
  const { tokenizer } = judgedBy;
  for (const route of judgedBy.goldens ? OPENAI_ROUTES : []) {
    if (servedPromptIds(PROBE, route, tokenizer, profile).join() !== servedPromptIds(PROBE, 'raw', tokenizer, profile).join())
      notServed.set(
        route,
        `front ends like ${profile.openai.id} change the prompt on this route, and without raw nobody knows the answer to that`,
      );
  }
  const [model] = (await clients.openai?.models(OPTIONS)) ?? [];
  return {
    notServed,
    models: { ...STOCK_MODELS, openai: model?.id ?? STOCK_MODELS.openai },
    decoupled: true,
    ensembleOutputs: new Set(),
    rawParameters: {},
  };
}

/** Whether the beginning of a prompt stays as it is shows on any conversation. */
const PROBE: Request = {
  id: 'probe',
  prompt: { kind: 'messages', messages: [{ role: 'user', content: 'a' }] },
  sampling: { kind: 'greedy' },
  limits: { maxTokens: 1 },
};
