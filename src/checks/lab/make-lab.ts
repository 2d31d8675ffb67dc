import type { RunConfig } from '#core/config/index.ts';
import { misfit, profileOf } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Endpoints, Health } from '#targets/types.ts';
import { connect } from '#wire/clients/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Budget, Lab, type LabParts } from './lab.ts';
import { LockstepError } from '#core/errors/index.ts';
import { STOCK_MODELS } from '#checks/routes/index.ts';
import { blsModels } from './bls-models.ts';
import { llmapiModel } from './llmapi-model.ts';
import { coldOf } from './cold.ts';
import { promptPool } from './goldens.ts';
import { type PoolPrompt, makePlan } from './plan.ts';
import { replayCommand } from './replay-command.ts';

/** One answer of a few dozen tokens takes milliseconds here and seconds on a busy GPU; half a minute means it hangs. */
const CASE_DEADLINE_MS = 30_000;

export const ORDINARY: Budget = { scale: 1, propertyRuns: 12, longTokens: 400 };

export interface LabOptions {
  readonly config: RunConfig;
  readonly endpoints: Endpoints;
  readonly identity: Readonly<Record<string, string>>;
  readonly health: () => Promise<Health>;
  readonly budget?: Budget;
  readonly restart?: LabParts['restart'];
  readonly deadlineMs?: number;
}

/** Connects to a running target. The connections close when the lab's parts are disposed. */
export async function makeLab(options: LabOptions): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const { config, endpoints } = options;
  const profile = profileOf(config.profile);
  const tokenizer = loadTokenizer(config.tokenizer);
  const clients = connect(endpoints);
  const notServed = new Map<RouteId, string>();
  for (const [route, model] of [
    ['raw', 'tensorrt_llm'],
    ['ensemble', 'ensemble'],
    ['generate', 'ensemble'],
  ] as const) {
    if (!(await clients.grpc.modelReady(model, '', { deadlineMs: 5000 }))) notServed.set(route, `the target has no model ${model}`);
  }
  const ownBls = await blsModels(clients);
  if (ownBls.bls === undefined) notServed.set('bls', 'the target has no tensorrt_llm_bls without accumulate_tokens');
  if (ownBls.blsAccumulate === undefined) notServed.set('bls-accumulate', 'the target has no tensorrt_llm_bls with accumulate_tokens');
  const ownLlmapi = await llmapiModel(clients);
  if (ownLlmapi === undefined) notServed.set('llmapi', 'the target has no model of the LLM API (text_input, sampling_param_max_tokens)');
  if (ownLlmapi === STOCK_MODELS.raw) notServed.set('raw', `${STOCK_MODELS.raw} is the LLM API's model here, which shows no ids`);
  const noFrontEnd = endpoints.openai === undefined ? 'the target has no OpenAI front end' : misfit(profile);
  if (noFrontEnd !== undefined) for (const route of ['openai-completions', 'openai-chat'] as const) notServed.set(route, noFrontEnd);
  const raw = notServed.has('raw') ? undefined : await clients.grpc.modelConfig('tensorrt_llm', '', { deadlineMs: 5000 });
  // Where the LLM API's model is all there is, it says whether anything streams.
  const engine = raw ?? (ownLlmapi === undefined ? undefined : await clients.grpc.modelConfig(ownLlmapi, '', { deadlineMs: 5000 }));
  const lab = new Lab({
    models: { ...STOCK_MODELS, ...ownBls, ...(ownLlmapi === undefined ? {} : { llmapi: ownLlmapi }) },
    decoupled: engine?.model_transaction_policy?.decoupled === true,
    rawParameters: Object.fromEntries(Object.entries(raw?.parameters ?? {}).map(([key, value]) => [key, value.string_value])),
    endpoints,
    clients,
    tokenizer,
    profile,
    policy: config.policy,
    plan: makePlan(narrowed(promptPool(tokenizer), config.only), config.seed),
    only: config.only,
    budget: options.budget ?? ORDINARY,
    goldensDir: config.goldens,
    notServed,
    owned: config.target !== 'external',
    dangerous: config.target === 'embedded' ? 'here' : !config.dangerous ? 'no' : config.target === 'external' ? 'here' : 'apart',
    restart: options.restart,
    health: options.health,
    deadlineMs: options.deadlineMs ?? CASE_DEADLINE_MS,
    identity: options.identity,
    replayBase: replayCommand(config),
  });
  return { lab, [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose]() };
}

/** Prompts that the request was made from: its id is the prompt's name, perhaps with what was done to it behind. */
function narrowed(prompts: readonly PoolPrompt[], only: string | undefined): readonly PoolPrompt[] {
  // A cold prompt is made of many others.
  if (only === undefined || coldOf(only) !== undefined) return prompts;
  const some = prompts.filter(({ name }) => only === name || only.startsWith(`${name}-`));
  if (some.length === 0) {
    throw new LockstepError('request-unknown', `no prompt has the name ${only}`, {
      hint: "Use the id that a failure's case shows; `npx lockstep goldens list` names the requests with goldens.",
    });
  }
  return some;
}
