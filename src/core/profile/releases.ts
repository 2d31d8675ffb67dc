import type { CoreProfile, Fact, ModelsProfile, OpenAiProfile, ReleaseProfile } from './profile.ts';

const observed = <T>(value: T, source: string): Fact<T> => ({ value, evidence: 'observed', source });
const wished = <T>(fact: Fact<unknown>, value: T): Fact<T> => ({ value, evidence: fact.evidence, source: `right form of: ${fact.source}` });

const REAL_CORE = 'docs/observed.md#triton-2-51';
const MODELS = 'docs/observed.md#model-repository-1-x';
const FRONTEND = 'docs/observed.md#openai-front-end-r25-12';

export const CORE_2_51: CoreProfile = {
  id: '2.51',
  serverVersion: observed('2.51.0', REAL_CORE),
  ensembleCancelReachesRunningStep: observed(false, REAL_CORE),
  missingRequiredInputDetected: observed(false, REAL_CORE),
  httpCloseSeenWhileSilent: observed(false, REAL_CORE),
};

export const MODELS_1_X: ModelsProfile = {
  id: '1.x',
  seedTensor: observed('seed', MODELS),
  minTokensTensor: observed('min_tokens', MODELS),
  streamedTextHoldsBackPartialCharacters: observed(false, MODELS),
  ensembleExcludeInput: observed(true, MODELS),
  returnsTokenCounts: observed(true, MODELS),
};

export const OPENAI_R25_12: OpenAiProfile = {
  id: 'r25.12',
  finishReasonAlwaysStop: observed(true, FRONTEND),
  disconnectCancels: observed(false, FRONTEND),
  doubleBos: observed(true, FRONTEND),
  chatExcludesInput: observed(false, FRONTEND),
  serverFailureStatus: observed(500, FRONTEND),
  defaultMaxTokens: observed(16, FRONTEND),
};

/** Every release that a profile can be made of, by axis and id. */
export const RELEASES: {
  readonly core: readonly CoreProfile[];
  readonly models: readonly ModelsProfile[];
  readonly openai: readonly OpenAiProfile[];
} = { core: [CORE_2_51], models: [MODELS_1_X], openai: [OPENAI_R25_12] };

export const DEFAULT_PROFILE: ReleaseProfile = { id: 'default', core: CORE_2_51, models: MODELS_1_X, openai: OPENAI_R25_12 };

/** The same releases without any gap: what the contracts say, not what servers were seen to do. */
export function idealOf({ core, models, openai }: ReleaseProfile): Omit<ReleaseProfile, 'id'> {
  return {
    core: {
      ...core,
      ensembleCancelReachesRunningStep: wished(core.ensembleCancelReachesRunningStep, true),
      missingRequiredInputDetected: wished(core.missingRequiredInputDetected, true),
      httpCloseSeenWhileSilent: wished(core.httpCloseSeenWhileSilent, true),
    },
    models: {
      ...models,
      streamedTextHoldsBackPartialCharacters: wished(models.streamedTextHoldsBackPartialCharacters, true),
    },
    openai: {
      ...openai,
      finishReasonAlwaysStop: wished(openai.finishReasonAlwaysStop, false),
      disconnectCancels: wished(openai.disconnectCancels, true),
      doubleBos: wished(openai.doubleBos, false),
      chatExcludesInput: wished(openai.chatExcludesInput, true),
    },
  };
}
