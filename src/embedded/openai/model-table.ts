/**
 * The models as the front end saw them when it started or loaded them; it never looks again.
 * Source: TritonLLMEngine._get_model_metadata, python/openai/openai_frontend/engine/triton_engine.py (r24.11 to main).
 */
import { wallClockMs } from '#core/clock/index.ts';
import type { TritonCore } from '../core/types.ts';

export interface ModelEntry {
  readonly name: string;
  /** Triton back end, `ensemble` for ensembles; '' when the config names none. */
  readonly backend: string;
  /** Input that keeps the prompt out of the text, when the model has one. */
  readonly echoTensor: string | undefined;
  /** Seconds since 1970. */
  readonly created: number;
}

const ECHO_TENSORS = ['exclude_input_in_output', 'sampling_param_exclude_input_from_output'];

/** Every ready model in alphabetical order, preprocessing and postprocessing too; what is loaded later comes behind. */
export function modelTable(core: TritonCore): Map<string, ModelEntry> {
  const names = [...new Set(core.repositoryIndex({ readyOnly: true }).map((entry) => entry.name))].sort();
  return new Map(names.map((name) => [name, modelEntry(core, name)]));
}

export function modelEntry(core: TritonCore, name: string): ModelEntry {
  const config = core.modelConfig(name, '');
  const backend = config.backend !== '' ? config.backend : config.platform === 'ensemble' ? 'ensemble' : '';
  const echoTensor = config.input.find((input) => ECHO_TENSORS.includes(input.name))?.name;
  return { name, backend, echoTensor, created: Math.floor(wallClockMs() / 1000) };
}

export function modelJson(entry: ModelEntry): object {
  return { id: entry.name, created: entry.created, object: 'model', owned_by: 'Triton Inference Server' };
}
