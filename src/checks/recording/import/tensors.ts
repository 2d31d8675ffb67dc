/** Inputs by name, as perf_analyzer's files have them, as tensors. */
import type { Json } from '../message-json.ts';
import { elementBytes } from '../tensor-values.ts';
import { type Imported, tensorRequest, unreadable } from './imported.ts';

/** Inputs of TensorRT-LLM's models that are not what their values look like (triton_backend/all_models, config.pbtxt). */
const DATATYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'stream',
      'streaming',
      'stop',
      'exclude_input_in_output',
      'return_log_probs',
      'return_context_logits',
      'return_generation_logits',
      'return_num_input_tokens',
      'return_num_output_tokens',
      'return_finish_reason',
    ].map((name) => [name, 'BOOL']),
  ),
  ...Object.fromEntries(
    ['temperature', 'top_p', 'runtime_top_p', 'len_penalty', 'repetition_penalty', 'presence_penalty', 'frequency_penalty', 'min_p'].map(
      (name) => [name, 'FP32'],
    ),
  ),
  ...Object.fromEntries(['random_seed', 'seed', 'sampling_param_seed', 'prompt_table_extra_id'].map((name) => [name, 'UINT64'])),
};

export type TensorInputs = { readonly [name: string]: Json };

/** One entry of `data`: each input a list of elements, one element, or `{"content", "shape"}`. Errors: `import-unreadable`. */
export function importTensors(inputs: TensorInputs, place: string, note: string): Imported {
  const tensors = Object.entries(inputs).map(([name, value]) => tensorOf(name, value, place));
  const model_name = 'input_ids' in inputs ? 'tensorrt_llm' : 'sampling_param_max_tokens' in inputs ? 'llmapi' : 'ensemble';
  return tensorRequest({ model_name, parameters: { triton_enable_empty_final_response: { bool_param: true } }, inputs: tensors }, note);
}

function tensorOf(name: string, value: Json, place: string): Json {
  const given = (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : { content: value }) as {
    readonly content?: Json;
    readonly shape?: Json;
  };
  const content = given.content;
  const elements = (Array.isArray(content) ? content : [content]) as readonly Json[];
  const [first] = elements;
  const fits =
    elements.length > 0 && elements.every((one) => typeof one === typeof first && ['string', 'number', 'boolean'].includes(typeof one));
  if (!fits)
    throw unreadable(
      `${place}: ${name} is no list of texts, numbers or booleans`,
      'Write each input as a list: {"text_input": ["…"], "max_tokens": [16]}.',
    );
  const datatype = datatypeOf(name, elements);
  const data = (datatype === 'BOOL' ? elements.map((one) => one === true || one === 1) : elements) as (string | number | boolean)[];
  const shape = Array.isArray(given.shape) ? [1, ...(given.shape as readonly number[])] : [1, data.length];
  try {
    if (elementBytes(datatype, data) !== undefined) return { name, datatype, shape, data };
  } catch {
    // What an element is not is said below.
  }
  throw unreadable(`${place}: ${name} has an element that is no ${datatype}`, 'Correct it.');
}

function datatypeOf(name: string, elements: readonly Json[]): string {
  const known = Object.hasOwn(DATATYPES, name) ? DATATYPES[name] : undefined;
  if (known !== undefined) return known;
  if (elements.every((one) => typeof one === 'string')) return 'BYTES';
  if (elements.every((one) => typeof one === 'boolean')) return 'BOOL';
  return elements.every((one) => Number.isInteger(one)) ? 'INT32' : 'FP32';
}
