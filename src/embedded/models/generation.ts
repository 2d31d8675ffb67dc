import type { ModelsProfile } from '#core/profile/index.ts';
import type { EnsembleStep, ModelConfig } from '#wire/protocol/model-config.ts';

/** Inputs and outputs that came with the counts of tokens. */
const COUNTS: ReadonlySet<string> = new Set([
  'return_num_input_tokens',
  'return_num_output_tokens',
  'num_input_tokens',
  'num_output_tokens',
]);

/**
 * A configuration of the repository (1.x) as an older generation of it has it: tensors under their old names, and without
 * those that came later. Upstream's files of 0.19 and 1.x differ in nothing else that the text path reads
 * (triton-inference-server/tensorrtllm_backend v0.19.0, all_models/inflight_batcher_llm).
 */
export function asGeneration(config: ModelConfig, profile: ModelsProfile): ModelConfig {
  const names: Readonly<Record<string, string>> = { seed: profile.seedTensor.value, min_tokens: profile.minTokensTensor.value };
  const there = (name: string): boolean => profile.returnsTokenCounts.value || !COUNTS.has(name);
  const named = <T extends { readonly name: string }>(tensors: readonly T[]): readonly T[] =>
    tensors.filter(({ name }) => there(name)).map((tensor) => ({ ...tensor, name: names[tensor.name] ?? tensor.name }));
  const mapped = (map: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(map)
        .filter(([key, value]) => there(key) && there(value))
        .map(([key, value]) => [names[key] ?? key, names[value] ?? value]),
    );
  const step = (one: EnsembleStep): EnsembleStep => ({ ...one, input_map: mapped(one.input_map), output_map: mapped(one.output_map) });
  const scheduling = config.ensemble_scheduling;
  return {
    ...config,
    input: named(config.input),
    output: named(config.output),
    ...(scheduling === undefined ? {} : { ensemble_scheduling: { ...scheduling, step: scheduling.step.map(step) } }),
  };
}
