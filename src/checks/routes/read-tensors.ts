/** From the output tensors of one message to the transcript. One reader per exchange, since counts add up. */
import { LockstepError } from '#core/errors/index.ts';
import type { TranscriptBuilder } from '#core/transcript/index.ts';
import type { InferMessage } from '#wire/clients/index.ts';
import { decodeBytesElements, elementCount, type Tensor } from '#wire/protocol/tensors.ts';
import { margins } from './margins.ts';

/** Adds what a message carries to the builder's current event. Errors: `tensor-malformed`. */
export type MessageReader = (message: InferMessage) => void;

/** Outputs of `tensorrt_llm`: output_ids INT32 [1, beams, n], sequence_length INT32 [1, beams], log-probabilities, logits, counts. */
export function rawReader(builder: TranscriptBuilder): MessageReader {
  const counts = tokenCounter(builder);
  return (message) => {
    let ids: Tensor | undefined;
    let length: number | undefined;
    for (const output of message.outputs) {
      if (output.name === 'output_ids') ids = output;
      else if (output.name === 'sequence_length') length = firstInt32(output);
      else if (output.name === 'generation_logits') for (const m of margins(output)) builder.margin(m.margin, m.winner, m.runnerUp);
      else common(output, builder, counts);
    }
    if (ids !== undefined) addIds(ids, length, builder);
    // Keeps one entry per event with data, so that laws can pair them.
    builder.sequenceLength(length ?? -1);
  };
}

/**
 * Outputs of `ensemble` and BLS: text_output BYTES [sequences], log-probabilities, counts. `cumulative`: every
 * text_output is the text so far.
 */
export function textReader(builder: TranscriptBuilder, cumulative = false): MessageReader {
  const counts = tokenCounter(builder);
  return (message) => {
    for (const output of message.outputs) {
      if (output.name === 'text_output') addText(output, builder, cumulative);
      else common(output, builder, counts);
    }
  };
}

/** Outputs of the LLM API's model: text_output BYTES [1], the text so far; finish_reason BYTES [1], `None` before the end. */
export function llmapiReader(builder: TranscriptBuilder): MessageReader {
  return (message) => {
    for (const output of message.outputs) {
      if (output.name === 'text_output') addText(output, builder, true);
      if (output.name !== 'finish_reason') continue;
      const [reason] = decodeBytesElements(output.data).map((bytes) => decodeUtf8(bytes).text);
      if (reason !== undefined && reason !== 'None') builder.finishReason(reason);
    }
  };
}

/** The first beam's ids: as many as sequence_length says, -1 is padding. */
function addIds(tensor: Tensor, length: number | undefined, builder: TranscriptBuilder): void {
  check(tensor, 'INT32');
  const row = firstRowLength(tensor);
  const end = Math.min(length ?? row, row);
  for (let i = 0; i < end; i++) {
    const id = int32At(tensor.data, i);
    if (id === -1) break;
    builder.id(id);
  }
}

function addText(tensor: Tensor, builder: TranscriptBuilder, cumulative: boolean): void {
  const elements = decodeBytesElements(tensor.data);
  if (elements.length !== 1) builder.error('malformed', `text_output has ${elements.length} elements, expected 1`);
  const bytes = elements[0];
  if (bytes === undefined) return;
  const { text, lost } = decodeUtf8(bytes);
  if (lost) builder.error('invalid-utf8', `text_output is not valid UTF-8: ${Buffer.from(bytes).toString('hex')}`);
  if (cumulative) builder.textSoFar(text);
  else builder.text(text);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): { readonly text: string; readonly lost: boolean } {
  try {
    return { text: UTF8.decode(bytes), lost: false };
  } catch {
    return { text: Buffer.from(bytes).toString('utf8'), lost: true };
  }
}

function common(output: Tensor, builder: TranscriptBuilder, counts: TokenCounter): void {
  switch (output.name) {
    case 'output_log_probs':
      check(output, 'FP32');
      for (let i = 0; i < firstRowLength(output); i++) builder.logProb(fp32At(output.data, i));
      return;
    case 'cum_log_probs':
      check(output, 'FP32');
      if (firstRowLength(output) > 0) builder.cumLogProb(fp32At(output.data, 0));
      return;
    case 'num_input_tokens':
      counts.input(firstInt32(output));
      return;
    case 'num_output_tokens':
      counts.output(firstInt32(output));
      return;
  }
}

export interface TokenCounter {
  input(count: number | undefined): void;
  output(count: number | undefined): void;
}

/** num_input_tokens is the same in every response, num_output_tokens counts what is in this one (as the OpenAI front end adds them up). */
export function tokenCounter(builder: TranscriptBuilder): TokenCounter {
  let promptTokens: number | undefined;
  let completionTokens: number | undefined;
  const tell = (): void => {
    if (promptTokens !== undefined && completionTokens !== undefined) builder.usage({ promptTokens, completionTokens });
  };
  return {
    input: (count) => {
      promptTokens ??= count;
      tell();
    },
    output: (count) => {
      if (count !== undefined) completionTokens = (completionTokens ?? 0) + count;
      tell();
    },
  };
}

function firstInt32(tensor: Tensor): number | undefined {
  check(tensor, 'INT32');
  return tensor.data.length === 0 ? undefined : int32At(tensor.data, 0);
}

/** Elements of the first beam of [1, beams, n] or [1, beams]: the first ones. */
function firstRowLength(tensor: Tensor): number {
  return Math.min(tensor.shape.at(-1) ?? 0, tensor.data.byteLength >> 2);
}

/** Without a typed array: data of a message are seldom aligned, and an aligned copy of one number costs many times its reading. */
function int32At(data: Uint8Array, i: number): number {
  const at = 4 * i;
  return (data[at] as number) | ((data[at + 1] as number) << 8) | ((data[at + 2] as number) << 16) | ((data[at + 3] as number) << 24);
}

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

function fp32At(data: Uint8Array, i: number): number {
  bits[0] = int32At(data, i);
  return float[0] as number;
}

function check(tensor: Tensor, datatype: 'INT32' | 'FP32'): void {
  if (tensor.datatype === datatype && tensor.data.byteLength === 4 * elementCount(tensor.shape)) return;
  throw new LockstepError(
    'tensor-malformed',
    `${tensor.name} is ${tensor.datatype} [${tensor.shape.join(', ')}] with ${tensor.data.byteLength} bytes, expected ${datatype} of that shape`,
  );
}
