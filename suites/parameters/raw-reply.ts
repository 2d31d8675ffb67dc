/** Plain requests to `tensorrt_llm` with all of its outputs, for what a transcript does not hold: beams, rows of logits, indices. */
import type { Lab } from '#checks/lab/lab.ts';
import { type Tensor, fp32Values, int32Values } from '#wire/protocol/tensors.ts';
import { bool, int32, raw } from '../protocol/requests.ts';
import { PlainGrpc, type StreamMessage, inferMessage } from '../protocol/wire.ts';

/** One response, per beam. */
export interface RawReply {
  readonly final: boolean;
  readonly sequenceIndex: number | undefined;
  readonly lengths: readonly number[];
  /** All that the tensor holds, padding included. */
  readonly padded: readonly (readonly number[])[];
  readonly ids: readonly (readonly number[])[];
  readonly logProbs: readonly (readonly number[])[];
  readonly cumLogProbs: readonly number[];
  /** [rows][vocabulary] */
  readonly contextLogits: readonly Float32Array[];
  /** Of the first beam, [rows][vocabulary]. */
  readonly generationLogits: readonly Float32Array[];
}

export interface RawAnswer {
  readonly replies: readonly RawReply[];
  /** Text of the first error, or of a call that broke off. */
  readonly error: string | undefined;
}

/** Words of a server or engine that lacks what was asked, and says so. */
export const LACKING =
  /unexpected inference input|need to build engine with gather|gather_generation_logits|not supported|exceeds max(imum)? ?_?beam_?width/i;

/** Asks for an answer that ends at EOS, comes whole and without the prompt. */
export type AskRaw = (ids: readonly number[], maxTokens: number, more: readonly Tensor[]) => Promise<RawAnswer>;

export async function withRaw<T>(lab: Lab, work: (ask: AskRaw) => Promise<T>): Promise<T> {
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
  return await work((ids, maxTokens, more) => ask(lab, client, ids, maxTokens, more));
}

async function ask(lab: Lab, client: PlainGrpc, ids: readonly number[], maxTokens: number, more: readonly Tensor[]): Promise<RawAnswer> {
  const eos = lab.tokenizer.eosId;
  const inputs = [
    ...(eos === undefined ? [] : [int32('end_id', [1, 1], [eos]), int32('pad_id', [1, 1], [lab.tokenizer.padId ?? eos])]),
    bool('exclude_input_in_output', [1, 1], [true]),
    ...more,
  ];
  const { messages, code, details } = await client.stream([inferMessage(raw(ids, maxTokens, inputs))], lab.parts.deadlineMs);
  const error = messages.find((m) => m.error !== '')?.error ?? (code === 'OK' ? undefined : `${code} ${details}`);
  return { replies: messages.filter((m) => m.error === '' && m.outputs.length > 0).map(replyOf), error };
}

function replyOf(message: StreamMessage): RawReply {
  const at = (name: string) => message.outputs.findIndex((output) => output.name === name);
  const shapeOf = (name: string) => message.outputs[at(name)]?.shape ?? [];
  const ints = (name: string) => (at(name) < 0 ? [] : [...int32Values(message.raw[at(name)]!)]);
  const floats = (name: string) => (at(name) < 0 ? new Float32Array(0) : fp32Values(message.raw[at(name)]!));
  const [, beams = 0, width = 0] = shapeOf('output_ids');
  const lengths = ints('sequence_length');
  const all = ints('output_ids');
  const padded = Array.from({ length: beams }, (_, b) => all.slice(b * width, (b + 1) * width));
  const probs = floats('output_log_probs');
  const perBeam = shapeOf('output_log_probs')[2] ?? 0;
  return {
    final: message.final === true,
    sequenceIndex: ints('sequence_index')[0],
    lengths,
    padded,
    ids: padded.map((row, b) => row.slice(0, lengths[b])),
    logProbs: padded.map((_, b) => [...probs.subarray(b * perBeam, b * perBeam + Math.min(perBeam, lengths[b] ?? 0))]),
    cumLogProbs: [...floats('cum_log_probs')],
    contextLogits: rowsOf(floats('context_logits'), shapeOf('context_logits')),
    generationLogits: rowsOf(floats('generation_logits'), shapeOf('generation_logits').slice(1)),
  };
}

/** The last two dimensions as rows; only the first matrix where there are several. */
function rowsOf(values: Float32Array, shape: readonly number[]): Float32Array[] {
  const [rows = 0, width = 0] = shape.slice(-2);
  return Array.from({ length: rows }, (_, i) => values.subarray(i * width, (i + 1) * width));
}

/** Natural logarithm of the probability of `id` under a row of logits. */
export function logProbabilityOf(row: Float32Array, id: number): number {
  let top = -Infinity;
  for (const logit of row) if (logit > top) top = logit;
  let sum = 0;
  for (const logit of row) sum += Math.exp(logit - top);
  return (row[id] ?? -Infinity) - top - Math.log(sum);
}
