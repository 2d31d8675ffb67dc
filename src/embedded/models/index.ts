import type { ReleaseProfile } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { ModelFactory } from '../core/index.ts';
import type { Engine } from '../engine/types.ts';
import { postprocessing } from './postprocessing.ts';
import { preprocessing } from './preprocessing.ts';
import { tensorrtLlm } from './tensorrt-llm.ts';

export interface ModelsOptions {
  readonly engine: Engine;
  readonly profile: ReleaseProfile;
  readonly faults: ReadonlySet<string>;
}

/** Finds the code behind a config: by the stock model names, and by back end for TensorRT-LLM engines of any name. */
export function stockModels(options: ModelsOptions): (config: ModelConfig) => ModelFactory | undefined {
  const { engine, faults, profile } = options;
  return (config) => {
    if (config.backend !== 'python' && config.backend !== 'tensorrtllm') return undefined;
    if (config.name === 'preprocessing') return (setup) => preprocessing(setup, faults);
    if (config.name === 'postprocessing') {
      return (setup) =>
        postprocessing(setup, { faults, holdsBackPartialCharacters: profile.models.streamedTextHoldsBackPartialCharacters.value });
    }
    if (config.name === 'tensorrt_llm' || config.backend === 'tensorrtllm') {
      return (setup) => tensorrtLlm(setup, { engine, faults, profile: profile.models });
    }
    return undefined;
  };
}
