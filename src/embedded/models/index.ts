import type { ReleaseProfile } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { ModelFactory } from '../core/index.ts';
import type { Engine } from '../engine/types.ts';
import { llmapi } from './llmapi.ts';
import { bls } from './bls.ts';
export { asGeneration } from './generation.ts';
import { postprocessing } from './postprocessing.ts';
import { preprocessing } from './preprocessing.ts';
import { tensorrtLlm } from './tensorrt-llm.ts';

export interface ModelsOptions {
  readonly engine: Engine;
  readonly profile: ReleaseProfile;
  readonly faults: ReadonlySet<string>;
}

/** The inputs by which the LLM API's model is known: upstream calls it tensorrt_llm, like the engine. */
function isLlmapi(config: ModelConfig): boolean {
  const names = config.input.map(({ name }) => name);
  return names.includes('text_input') && names.includes('sampling_param_max_tokens');
}

/** Finds the code behind a config: by the stock model names, by back end for TensorRT-LLM engines, by tensors for the LLM API. */
export function stockModels(options: ModelsOptions): (config: ModelConfig) => ModelFactory | undefined {
  const { engine, faults, profile } = options;
  return (config) => {
    if (config.backend !== 'python' && config.backend !== 'tensorrtllm') return undefined;
    if (config.name === 'preprocessing') return (setup) => preprocessing(setup, faults);
    if (config.name === 'postprocessing') {
      return (setup) =>
        postprocessing(setup, { faults, holdsBackPartialCharacters: profile.models.streamedTextHoldsBackPartialCharacters.value });
    }
    if (isLlmapi(config)) return (setup) => llmapi(setup, { engine, faults, profile: profile.models });
    if (config.name.startsWith('tensorrt_llm_bls')) return (setup) => bls(setup, { faults, profile: profile.models });
    if (config.name === 'tensorrt_llm' || config.backend === 'tensorrtllm') {
      return (setup) => tensorrtLlm(setup, { engine, faults, profile: profile.models });
    }
    return undefined;
  };
}
