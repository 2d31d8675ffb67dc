/** How the samplers of the PyTorch back end end an answer, told from what the engine says (docs/observed.md#torch-path). */
import type { TorchPath } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { EngineFinish, EngineStep } from '../engine/types.ts';

/** The ids of a step: EOS among them where the sampler of the release keeps it. */
export function drawnIds(step: EngineStep, torch: TorchPath, { eosId }: Tokenizer): readonly number[] {
  return step.finish === 'eos' && torch.eosInIds.value && eosId !== undefined ? [...step.ids, eosId] : step.ids;
}

/** The samplers look for the length before they look for stop words. */
export function finishOf(step: EngineStep, generated: number, maxTokens: number): EngineFinish | undefined {
  return step.finish === 'stop-words' && generated >= maxTokens ? 'length' : step.finish;
}
