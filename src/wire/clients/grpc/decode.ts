/**
 * Lean decoders for the two response messages that a stream carries by the thousand. Field numbers:
 * proto/grpc_service.proto. Tensor data are views into the received bytes, not copies.
 *
 * Errors: `tensor-malformed`; protobufjs' RangeError for bytes that are no protobuf (grpc-js turns both into INTERNAL).
 */
import protobuf from 'protobufjs/minimal.js';
import { LockstepError } from '#core/errors/index.ts';
import type { Datatype, Tensor } from '#wire/protocol/tensors.ts';
import type { InferMessage } from '../types.ts';

type Parameter = boolean | number | bigint | string;

const NO_PARAMETERS: ReadonlyMap<string, Parameter> = new Map();
const FINAL = 'triton_final_response';

interface Building {
  id: string;
  modelName: string;
  modelVersion: string;
  outputs: readonly Tensor[];
  parameters: ReadonlyMap<string, Parameter>;
  final: boolean | undefined;
  errorMessage: string | undefined;
}

/** A tensor whose data come later in the message. */
interface PendingTensor extends Tensor {
  name: string;
  datatype: Datatype;
  shape: number[];
  data: Uint8Array;
}

const NO_DATA = new Uint8Array();

/** Places for known strings, a power of two; two strings that want the same place take turns. */
const KNOWN = 256;
/** Longer strings do not repeat, or not often. */
const MAX_KNOWN = 64;
const knownBytes: (Uint8Array | undefined)[] = Array.from({ length: KNOWN }, () => undefined);
const knownTexts: string[] = Array.from({ length: KNOWN }, () => '');

/**
 * A string field. A message of one token has a dozen of them, the same ones as the message before: comparing their bytes is
 * cheaper than decoding them again (docs/performance.md#the-client).
 */
function stringField(reader: protobuf.Reader): string {
  const before = reader.pos;
  const length = reader.uint32();
  const { buf, pos: start } = reader;
  const end = start + length;
  if (length > MAX_KNOWN || end > reader.len) {
    reader.pos = before;
    return reader.string();
  }
  let hash = length;
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (buf[i] as number)) | 0;
  const place = (hash ^ (hash >>> 8)) & (KNOWN - 1);
  const known = knownBytes[place];
  if (known !== undefined && known.length === length && isAt(known, buf, start)) {
    reader.pos = end;
    return knownTexts[place] as string;
  }
  reader.pos = before;
  const text = reader.string();
  knownBytes[place] = Uint8Array.from(buf.subarray(start, end));
  knownTexts[place] = text;
  return text;
}

function isAt(known: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}

/** ModelStreamInferResponse: 1 error_message, 2 infer_response. An empty error_message is not on the wire. */
export function decodeStreamInferResponse(bytes: Buffer): InferMessage {
  const reader = protobuf.Reader.create(bytes);
  const message = blank();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 18) inferResponse(reader, reader.uint32() + reader.pos, message);
    else if (tag === 10) message.errorMessage = reader.string() || undefined;
    else reader.skipType(tag & 7);
  }
  return message;
}

/** ModelInferResponse. */
export function decodeInferResponse(bytes: Buffer): InferMessage {
  const reader = protobuf.Reader.create(bytes);
  const message = blank();
  inferResponse(reader, reader.len, message);
  return message;
}

function blank(): Building {
  return { id: '', modelName: '', modelVersion: '', outputs: [], parameters: NO_PARAMETERS, final: undefined, errorMessage: undefined };
}

/** 1 model_name, 2 model_version, 3 id, 4 parameters, 5 outputs, 6 raw_output_contents. */
function inferResponse(reader: protobuf.Reader, end: number, message: Building): void {
  const outputs: PendingTensor[] = [];
  let filled = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag) {
      case 10:
        message.modelName = stringField(reader);
        break;
      case 18:
        message.modelVersion = stringField(reader);
        break;
      case 26:
        message.id = stringField(reader);
        break;
      case 34:
        parameterEntry(reader, reader.uint32() + reader.pos, message);
        break;
      case 42:
        outputs.push(tensorHeader(reader, reader.uint32() + reader.pos));
        break;
      case 50:
        // Serialisers write fields in the order of their numbers, so every output is known before the first data.
        if (filled === outputs.length) throw unpaired(`raw_output_contents ${filled} belongs to no output`);
        (outputs[filled++] as PendingTensor).data = reader.bytes();
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  if (outputs.length !== filled) {
    throw unpaired(`a response has ${outputs.length} outputs and ${filled} raw_output_contents`);
  }
  message.outputs = outputs;
}

function unpaired(what: string): LockstepError {
  return new LockstepError('tensor-malformed', what, {
    hint: 'Report this server: Triton sends one raw_output_contents per output, in their order.',
  });
}

/** InferOutputTensor: 1 name, 2 datatype, 3 shape (packed or not). */
function tensorHeader(reader: protobuf.Reader, end: number): PendingTensor {
  const header: PendingTensor = { name: '', datatype: 'BYTES', shape: [], data: NO_DATA };
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag) {
      case 10:
        header.name = stringField(reader);
        break;
      case 18:
        header.datatype = stringField(reader) as Datatype;
        break;
      case 26: {
        // Dimensions of a response are never negative, and no tensor has 2^32 elements along one axis.
        const last = reader.uint32() + reader.pos;
        while (reader.pos < last) header.shape.push(reader.uint32());
        break;
      }
      case 24:
        header.shape.push(reader.uint32());
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  return header;
}

/** A map entry of InferParameter: 1 key, 2 value. */
function parameterEntry(reader: protobuf.Reader, end: number, message: Building): void {
  let key = '';
  let value: Parameter | undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 10) key = stringField(reader);
    else if (tag === 18) value = parameterValue(reader, reader.uint32() + reader.pos);
    else reader.skipType(tag & 7);
  }
  if (key === FINAL && typeof value === 'boolean') {
    message.final = value;
  } else if (value !== undefined) {
    if (message.parameters === NO_PARAMETERS) message.parameters = new Map();
    (message.parameters as Map<string, Parameter>).set(key, value);
  }
}

/** 1 bool_param, 2 int64_param, 3 string_param, 4 double_param, 5 uint64_param. Members of a oneof are sent even at their default. */
function parameterValue(reader: protobuf.Reader, end: number): Parameter | undefined {
  let value: Parameter | undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag) {
      case 8:
        value = reader.bool();
        break;
      case 16:
        value = BigInt(String(reader.int64()));
        break;
      case 26:
        value = reader.string();
        break;
      case 33:
        value = reader.double();
        break;
      case 40:
        value = BigInt(String(reader.uint64()));
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  return value;
}
