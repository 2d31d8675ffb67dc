import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { Role } from '../knobs/index.ts';

/** What a model is in the stock repository, by its tensors: names differ between deployments. */
export function roleOf(config: ModelConfig): Role {
  const inputs = new Set(config.input.map(({ name }) => name));
  const outputs = new Set(config.output.map(({ name }) => name));
  if (config.platform === 'ensemble' || config.ensemble_scheduling !== undefined) return 'ensemble';
  if (config.backend === 'tensorrtllm' || ('gpt_model_path' in config.parameters && inputs.has('input_lengths'))) return 'engine';
  if (inputs.has('sampling_param_max_tokens')) return 'llmapi';
  if (outputs.has('INPUT_ID')) return 'preprocessing';
  if (inputs.has('TOKENS_BATCH')) return 'postprocessing';
  return inputs.has('text_input') && inputs.has('max_tokens') ? 'bls' : 'other';
}
