import type { ModelsProfile, OpenAiProfile, ReleaseProfile } from './profile.ts';
import { DEFAULT_PROFILE, RELEASES } from './releases.ts';

/** Inputs that NVIDIA's front end sends and that these models do not declare, so that the core refuses the request. */
export function unknownInputs({ trtllmServe, seedTensor, tokenCounts }: OpenAiProfile, models: ModelsProfile): readonly string[] {
  // trtllm-serve speaks to an engine of its own.
  if (trtllmServe !== undefined) return [];
  return [
    ...(seedTensor.value === models.seedTensor.value ? [] : [seedTensor.value]),
    ...(tokenCounts.value && !models.returnsTokenCounts.value ? ['return_num_input_tokens', 'return_num_output_tokens'] : []),
  ];
}

/** Why the front end of a profile cannot be asked in front of its models, and which one can; undefined: it can. */
export function misfit({ core, openai, models }: Pick<ReleaseProfile, 'core' | 'openai' | 'models'>): string | undefined {
  if (core.ensembleNeedsAllOutputs.value && openai.trtllmServe === undefined)
    return `the front end came with Triton 2.52, and an ensemble of ${core.id} has no output for what it asks`;
  const unknown = unknownInputs(openai, models);
  if (unknown.length === 0) return undefined;
  const fitting = [...RELEASES.openai.filter((r) => r.trtllmServe === undefined), DEFAULT_PROFILE.openai].findLast(
    (release) => unknownInputs(release, models).length === 0,
  );
  const advice = fitting === undefined ? '' : `; pair it with openai=${fitting.id}`;
  return `the front end ${openai.id} sends inputs that models ${models.id} do not have (${unknown.join(', ')})${advice}`;
}
