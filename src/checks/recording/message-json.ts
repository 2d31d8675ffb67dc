/**
 * A gRPC message as JSON: field names as in proto/, in the order of their numbers, fields that were not on the wire left
 * out; the raw contents of a tensor stand as `data` with the tensor they belong to.
 */
import type protobuf from 'protobufjs';
import { bytesOfText, textOfBytes } from '#wire/protocol/escaped-bytes.ts';
import { type ElementValue, elementBytes, elementValues } from './tensor-values.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = Record<string, unknown>;

interface TensorFields {
  readonly datatype?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly contents?: { bytes_contents?: readonly unknown[] };
  data?: unknown;
}

/** Where a message keeps its tensors, and where their raw bytes. */
const RAW = [
  { tensors: 'inputs', raw: 'raw_input_contents' },
  { tensors: 'outputs', raw: 'raw_output_contents' },
] as const;

/** Undefined when the bytes are no such message. */
export function messageJson(type: protobuf.Type, bytes: Uint8Array): Json | undefined {
  try {
    const message = type.toObject(type.decode(bytes), { enums: String, json: true }) as Fields;
    for (const holder of holders(message)) {
      for (const { tensors, raw } of RAW) joinData(holder, tensors, raw);
      for (const tensor of [...list(holder['inputs']), ...list(holder['outputs'])] as TensorFields[]) showBytesContents(tensor, shownBytes);
    }
    return plain(message);
  } catch {
    return undefined;
  }
}

/** The bytes of a message as `messageJson` gives it. Throws what the encoder throws when it is none. */
export function messageBytes(type: protobuf.Type, json: Json): Buffer {
  const message = structuredClone(json) as Fields;
  for (const holder of holders(message)) {
    for (const { tensors, raw } of RAW) splitData(holder, tensors, raw);
    for (const tensor of [...list(holder['inputs']), ...list(holder['outputs'])] as TensorFields[]) showBytesContents(tensor, readBytes);
  }
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}

/** The message, and the response inside a message of ModelStreamInfer. */
function holders(message: Fields): Fields[] {
  const inner = message['infer_response'];
  return inner === null || typeof inner !== 'object' ? [message] : [message, inner as Fields];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Tensors in shared memory have no raw contents. */
function rawTensors(holder: Fields, tensors: string): TensorFields[] {
  const all = list(holder[tensors]) as TensorFields[];
  return all.filter(({ parameters }) => parameters === undefined || !Object.hasOwn(parameters, 'shared_memory_region'));
}

function joinData(holder: Fields, tensors: string, raw: string): void {
  const contents = list(holder[raw]) as Uint8Array[];
  const owners = rawTensors(holder, tensors);
  if (contents.length === 0 || contents.length !== owners.length) return;
  for (const [i, tensor] of owners.entries()) {
    const bytes = contents[i]!;
    tensor.data = elementValues(tensor.datatype ?? '', bytes) ?? { base64: base64(bytes) };
  }
  delete holder[raw];
}

function splitData(holder: Fields, tensors: string, raw: string): void {
  const owners = rawTensors(holder, tensors).filter((tensor) => tensor.data !== undefined);
  if (owners.length === 0) return;
  holder[raw] = owners.map((tensor) => {
    const { data } = tensor;
    delete tensor.data;
    const bytes = Array.isArray(data)
      ? elementBytes(tensor.datatype ?? '', data as ElementValue[])
      : Buffer.from((data as { base64: string }).base64, 'base64');
    if (bytes === undefined) throw new TypeError(`data of datatype ${tensor.datatype ?? '(none)'} cannot be encoded`);
    return bytes;
  });
}

function showBytesContents(tensor: TensorFields, each: (value: unknown) => unknown): void {
  const { contents } = tensor;
  if (contents?.bytes_contents !== undefined) contents.bytes_contents = contents.bytes_contents.map(each);
}

const shownBytes = (value: unknown): unknown => (value instanceof Uint8Array ? textOfBytes(Buffer.from(value)) : value);
const readBytes = (value: unknown): unknown => (typeof value === 'string' ? bytesOfText(value) : value);

function plain(value: unknown): Json {
  if (value instanceof Uint8Array) return base64(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : value;
  if (value === null || typeof value !== 'object') return value as Json;
  if (isLong(value)) {
    const number = value.toNumber();
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

interface Long {
  toNumber(): number;
  toString(): string;
}

function isLong(value: object): value is Long {
  return 'low' in value && 'high' in value && 'unsigned' in value;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
