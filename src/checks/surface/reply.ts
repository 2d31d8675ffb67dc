/** What came back for one question, read alike on every route. */
import type { InferMessage } from '#wire/clients/index.ts';
import { decodeBytesElements, fp32Values, int32Values, type Tensor } from '#wire/protocol/tensors.ts';

/** One answer of a request: a batch has rows, a row has sequences, a sequence has beams. */
export interface Given {
  readonly row: number;
  readonly sequence: number;
  readonly beam: number;
  /** Token ids, where the route serves them (raw). */
  readonly ids: readonly number[] | undefined;
  readonly text: string;
}

/** An output beside the answer, as one response carried it. */
export interface Output {
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

export interface Reply {
  /** Why there is no answer, in the server's words, with the code of gRPC or HTTP in front. */
  readonly refusal: string | undefined;
  /** In order of row, sequence, beam; texts of a stream joined. */
  readonly answers: readonly Given[];
  /** By name, one entry per response that carried it. */
  readonly outputs: ReadonlyMap<string, readonly Output[]>;
  /** Responses with data. */
  readonly responses: number;
}

/** Collects responses. Not for use after `reply`. */
export class ReplyBuilder {
  readonly #answers = new Map<string, { row: number; sequence: number; beam: number; ids: number[] | undefined; text: string }>();
  readonly #outputs = new Map<string, Output[]>();
  #responses = 0;
  #refusal: string | undefined;

  refuse(code: string, message: string): void {
    this.#refusal ??= `${code} ${message}`;
  }

  response(): void {
    this.#responses++;
  }

  answer(row: number, sequence: number, beam: number, ids: readonly number[] | undefined, text: string): void {
    const key = `${row} ${sequence} ${beam}`;
    const known = this.#answers.get(key);
    if (known === undefined) {
      this.#answers.set(key, { row, sequence, beam, ids: ids?.slice(), text });
      return;
    }
    known.text += text;
    if (ids !== undefined) (known.ids ??= []).push(...ids);
  }

  output(name: string, output: Output): void {
    const all = this.#outputs.get(name);
    if (all === undefined) this.#outputs.set(name, [output]);
    else all.push(output);
  }

  /** @param decode of all ids of an answer, where ids were served: never chunk by chunk */
  reply(decode: (ids: readonly number[]) => string): Reply {
    return {
      refusal: this.#refusal,
      answers: [...this.#answers.values()]
        .toSorted((a, b) => a.row - b.row || a.sequence - b.sequence || a.beam - b.beam)
        .map((a) => ({ ...a, text: a.ids === undefined ? a.text : decode(a.ids) })),
      outputs: this.#outputs,
      responses: this.#responses,
    };
  }
}

/** One gRPC message: output_ids INT32 [1, beams, n] with sequence_length [1, beams], or text_output BYTES [beams]. */
export function readMessage(message: InferMessage, builder: ReplyBuilder): void {
  if (message.errorMessage !== undefined) builder.refuse('in-band', message.errorMessage);
  if (message.outputs.length === 0) return;
  builder.response();
  const byName = new Map(message.outputs.map((output) => [output.name, output]));
  const index = (name: string) => (byName.has(name) ? (int32Values(byName.get(name)!.data)[0] ?? 0) : 0);
  const row = index('batch_index');
  const sequence = index('sequence_index');
  const ids = byName.get('output_ids');
  const text = byName.get('text_output');
  if (ids !== undefined) {
    const lengths = byName.has('sequence_length') ? int32Values(byName.get('sequence_length')!.data) : undefined;
    const width = ids.shape.at(-1) ?? 0;
    const values = int32Values(ids.data);
    const beams = ids.shape.at(-2) ?? 1;
    for (let beam = 0; beam < beams; beam++) {
      const length = Math.min(width, lengths?.[beam] ?? width);
      builder.answer(row, sequence, beam, [...values.subarray(beam * width, beam * width + length)], '');
    }
  }
  if (text !== undefined)
    for (const [beam, bytes] of decodeBytesElements(text.data).entries())
      builder.answer(row, sequence, beam, undefined, Buffer.from(bytes).toString('utf8'));
  for (const output of message.outputs)
    if (output !== ids && output !== text) builder.output(output.name, { ...output, values: numbersOf(output) });
}

function numbersOf({ datatype, data }: Tensor): ArrayLike<number> {
  switch (datatype) {
    case 'FP32':
      return fp32Values(data);
    case 'INT32':
      return int32Values(data);
    case 'INT64':
      return Array.from(new BigInt64Array(new Uint8Array(data).buffer), Number);
    default:
      return data;
  }
}

/** One JSON object of generate: a single element is a bare value, several are a list. */
export function readGenerated(payload: Readonly<Record<string, unknown>>, builder: ReplyBuilder): void {
  builder.response();
  const { text_output: text, batch_index: row, sequence_index: sequence } = payload;
  for (const [beam, part] of [text].flat().entries())
    builder.answer(whole(row), whole(sequence), beam, undefined, typeof part === 'string' ? part : JSON.stringify(part));
  for (const [name, value] of Object.entries(payload)) {
    const values = [value].flat(3).filter((v): v is number => typeof v === 'number');
    // sequence_id, sequence_start, sequence_end are parameters of an ensemble's response.
    if (values.length > 0 && !name.startsWith('sequence_')) builder.output(name, { datatype: 'JSON', shape: [values.length], values });
  }
}

function whole(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** One JSON object of the OpenAI front end, whole or a chunk; usage counts as the outputs that it is made from. */
export function readOpenAi(payload: Readonly<Record<string, unknown>>, builder: ReplyBuilder): void {
  builder.response();
  const choices = (payload['choices'] ?? []) as readonly OpenAiChoice[];
  for (const [i, choice] of choices.entries()) {
    const text = choice.text ?? choice.message?.content ?? choice.delta?.content ?? '';
    builder.answer(0, choice.index ?? i, 0, undefined, text);
    const logProbs = numbersIn(choice.logprobs);
    if (logProbs.length > 0) builder.output('logprobs', { datatype: 'JSON', shape: [logProbs.length], values: logProbs });
  }
  const usage = payload['usage'] as { readonly prompt_tokens: number; readonly completion_tokens: number } | null | undefined;
  if (usage == null) return;
  builder.output('num_input_tokens', { datatype: 'JSON', shape: [1], values: [usage.prompt_tokens] });
  builder.output('num_output_tokens', { datatype: 'JSON', shape: [1], values: [usage.completion_tokens] });
}

/** Every number of a JSON value, in its order. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

interface OpenAiChoice {
  readonly index?: number;
  readonly logprobs?: unknown;
  readonly text?: string;
  readonly message?: { readonly content?: string | null };
  readonly delta?: { readonly content?: string | null };
}
