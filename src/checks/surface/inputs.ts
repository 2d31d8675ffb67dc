/** From words to inputs of one surface: tensors of gRPC, members of a JSON body. */
import type { ModelsProfile } from '#core/profile/index.ts';
import {
  boolTensor,
  bytesTensor,
  decodeBytesElements,
  fp32Tensor,
  fp32Values,
  int32Tensor,
  int32Values,
  type Tensor,
  uint64Tensor,
} from '#wire/protocol/tensors.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { wordListTensor } from '#checks/routes/stop-words.ts';
import { type Kind, type Spelling, spellings, type Surface } from './spellings.ts';
import type { Bias, Word, Words } from './words.ts';

type Scalar = Exclude<Kind, 'phrases' | 'bias'> | 'text';

/** One input of one batch row. */
interface Input {
  readonly name: string;
  readonly kind: Scalar;
  /** Without the batch dimension. */
  readonly shape: readonly number[];
  readonly values: readonly (number | boolean | string)[];
  /** A list in JSON even with one value. */
  readonly list: boolean;
}

export interface InputContext {
  readonly tokenizer: Tokenizer;
  readonly models: ModelsProfile;
}

/** Whether the surface has inputs for all of these words. */
export function spells(surface: Surface, words: Iterable<Word>, models: ModelsProfile): boolean {
  const all = spellings(models);
  return [...words].every((word) => all[word].names[surface] !== undefined);
}

/** Tensors [rows, …] of words that every row has, on llmapi […]; rows of one word must have one shape. */
export function tensorsOf(surface: Surface, rows: readonly Words[], context: InputContext): Tensor[] {
  const perRow = rows.map((words) => inputsOf(surface, words, context));
  return (perRow[0] ?? []).map((first, i) =>
    tensor(
      first,
      perRow.map((inputs) => inputs[i] as Input),
      surface !== 'llmapi',
    ),
  );
}

/** Members of the JSON body of generate or of the OpenAI front end; null stays null. */
export function membersOf(surface: Surface, words: Words, context: InputContext): Record<string, unknown> {
  const all = spellings(context.models);
  const nulls = Object.entries(words).flatMap(([word, value]) => {
    const name = all[word as Word].names[surface];
    return value === null && name !== undefined ? [[name, null] as const] : [];
  });
  const inputs = inputsOf(surface, words, context).map((input) => [input.name, input.list ? input.values : input.values[0]] as const);
  return Object.fromEntries([...nulls, ...inputs]);
}

function inputsOf(surface: Surface, words: Words, context: InputContext): Input[] {
  const all = spellings(context.models);
  return Object.entries(words).flatMap(([word, value]) => {
    const spelling = all[word as Word];
    const name = spelling.names[surface];
    if (value === undefined || value === null) return [];
    if (name === undefined) throw new TypeError(`${surface} has no input for ${word}: ask spells() first`);
    return input(surface, name, spelling, value as Given, context);
  });
}

type Given = number | boolean | string | readonly string[] | readonly Bias[];

function input(surface: Surface, name: string, { kind }: Spelling, value: Given, { tokenizer }: InputContext): Input[] {
  if (kind === 'bias') return bias(surface, name, value as readonly Bias[], tokenizer);
  if (kind !== 'phrases') return [{ name, kind, shape: [1], values: [value as number | boolean | string], list: false }];
  const phrases = value as readonly string[];
  if (surface !== 'tensorrt_llm') return [{ name, kind: 'text', shape: [phrases.length], values: phrases, list: true }];
  const { shape, data } = wordListTensor(
    name,
    phrases.map((phrase) => tokenizer.encode(phrase, { addSpecialTokens: false })),
  );
  const values = new Int32Array(data.buffer, data.byteOffset, data.byteLength >> 2);
  return [{ name, kind: 'int32', shape: shape.slice(1), values: [...values], list: true }];
}

function bias(surface: Surface, name: string, biases: readonly Bias[], tokenizer: Tokenizer): Input[] {
  if (surface === 'tensorrt_llm')
    return [{ name, kind: 'fp32', shape: [tokenizer.vocabSize], values: [...biasVector(biases, tokenizer)], list: true }];
  const shape = [biases.length];
  return [
    { name, kind: 'text', shape, values: biases.map((b) => b.word), list: true },
    { name: 'embedding_bias_weights', kind: 'fp32', shape, values: biases.map((b) => b.weight), list: true },
  ];
}

/** As preprocessing makes it: words are encoded with special tokens, so BOS is biased too; weights add up. */
export function biasVector(biases: readonly Bias[], tokenizer: Tokenizer): Float32Array {
  const vector = new Float32Array(tokenizer.vocabSize);
  for (const { word, weight } of biases)
    for (const id of tokenizer.encode(word, { addSpecialTokens: true })) vector[id] = (vector[id] ?? 0) + weight;
  return vector;
}

function tensor({ name, kind, shape }: Input, rows: readonly Input[], batched: boolean): Tensor {
  const full = batched ? [rows.length, ...shape] : shape;
  const values = rows.flatMap((row) => row.values);
  switch (kind) {
    case 'int32':
      return int32Tensor(name, full, values as number[]);
    case 'fp32':
      return fp32Tensor(name, full, values as number[]);
    case 'uint64':
      return uint64Tensor(name, full, (values as number[]).map(BigInt));
    case 'bool':
      return boolTensor(name, full, values as boolean[]);
    case 'text':
      return bytesTensor(name, full, values as string[]);
  }
}

/** A tensor [1, …] as generate takes it: a bare value for one element, a list for several; no FP16. */
export function jsonOf({ datatype, data }: Tensor): unknown {
  const values = jsonValues(datatype, data);
  return values.length === 1 ? values[0] : values;
}

function jsonValues(datatype: Tensor['datatype'], data: Uint8Array): readonly unknown[] {
  switch (datatype) {
    case 'INT32':
      return [...int32Values(data)];
    case 'FP32':
      return [...fp32Values(data)];
    case 'UINT64':
      return Array.from(new BigUint64Array(new Uint8Array(data).buffer), Number);
    case 'BOOL':
      return Array.from(data, (byte) => byte !== 0);
    case 'BYTES':
      return decodeBytesElements(data).map((bytes) => Buffer.from(bytes).toString('utf8'));
    default:
      throw new TypeError(`no probe sends ${datatype} as JSON`);
  }
}
