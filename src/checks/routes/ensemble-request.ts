import type { Case, RouteId } from '#core/request/index.ts';
import type { InferRequest } from '#wire/clients/index.ts';
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { EMPTY_FINAL } from './raw-request.ts';
import type { RouteContext, RunOptions } from './types.ts';

/** One input of the ensemble in both of its spellings: a tensor of gRPC, a member of generate's JSON. */
type Field =
  | { readonly kind: 'text'; readonly values: readonly string[] }
  | { readonly kind: 'int32' | 'fp32' | 'uint64'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean };

/** The inputs of `ensemble` by name. Greedy: no sampling input at all (docs/determinism.md#greedy). */
function fields(c: Case, text: string, context: RouteContext, options: RunOptions): ReadonlyMap<string, Field> {
  const { limits, sampling } = c.request;
  const names = context.profile.models;
  const out = new Map<string, Field>([
    ['text_input', { kind: 'text', values: [text] }],
    ['max_tokens', { kind: 'int32', value: limits.maxTokens }],
    ['stream', { kind: 'bool', value: c.mode === 'stream' }],
  ]);
  const flag = (name: string): void => void out.set(name, { kind: 'bool', value: true });
  if (names.ensembleExcludeInput.value) flag('exclude_input_in_output');
  if (limits.stopWords !== undefined && limits.stopWords.length > 0) out.set('stop_words', { kind: 'text', values: limits.stopWords });
  if (limits.minTokens !== undefined) out.set(names.minTokensTensor.value, { kind: 'int32', value: limits.minTokens });
  if (sampling.kind === 'sampled') {
    if (sampling.topK !== undefined) out.set('top_k', { kind: 'int32', value: sampling.topK });
    if (sampling.topP !== undefined) out.set('top_p', { kind: 'fp32', value: sampling.topP });
    if (sampling.temperature !== undefined) out.set('temperature', { kind: 'fp32', value: sampling.temperature });
    out.set(names.seedTensor.value, { kind: 'uint64', value: sampling.seed });
  }
  if (options.logProbs) flag('return_log_probs');
  if (names.returnsTokenCounts.value) {
    flag('return_num_input_tokens');
    flag('return_num_output_tokens');
  }
  return out;
}

/** The routes that ask another model than the ensemble for the same. */
const MODELS: Readonly<Partial<Record<RouteId, keyof RouteContext['models']>>> = { bls: 'bls', 'bls-accumulate': 'blsAccumulate' };

/** As tensors, for the ensemble or a BLS: every shape is [1, n], BYTES for text. */
export function ensembleRequest(c: Case, id: string, text: string, context: RouteContext, options: RunOptions): InferRequest {
  const inputs = [...fields(c, text, context, options)].map(([name, field]) => tensor(name, field));
  return { model: context.models[MODELS[c.route] ?? 'ensemble'], id, inputs, parameters: EMPTY_FINAL };
}

/** As the JSON object of generate and generate_stream. */
export function generateBody(
  c: Case,
  id: string,
  text: string,
  context: RouteContext,
  options: RunOptions,
): Readonly<Record<string, unknown>> {
  const members = [...fields(c, text, context, options)].map(([name, field]) => [name, json(name, field)] as const);
  return { id, ...Object.fromEntries(members) };
}

function tensor(name: string, field: Field): Tensor {
  switch (field.kind) {
    case 'text':
      return bytesTensor(name, [1, field.values.length], field.values);
    case 'int32':
      return int32Tensor(name, [1, 1], [field.value]);
    case 'fp32':
      return fp32Tensor(name, [1, 1], [field.value]);
    case 'uint64':
      return uint64Tensor(name, [1, 1], [BigInt(field.value)]);
    case 'bool':
      return boolTensor(name, [1, 1], [field.value]);
  }
}

function json(name: string, field: Field): unknown {
  if (field.kind !== 'text') return field.value;
  return name === 'text_input' ? field.values[0] : field.values;
}
