import protobuf from 'protobufjs/minimal.js';
import type { Tensor } from '#wire/protocol/tensors.ts';
import type { InferRequest } from '../types.ts';

/** Protobuf wire types in a tag: field number × 8 + type. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Bytes of a ModelInferRequest; every tensor goes to raw_input_contents. Field numbers: proto/grpc_service.proto. */
export function encodeInferRequest(request: InferRequest): Buffer {
  const w = protobuf.Writer.create();
  w.uint32(tag(1, BYTES)).string(request.model);
  if (request.version !== undefined && request.version !== '') w.uint32(tag(2, BYTES)).string(request.version);
  if (request.id !== '') w.uint32(tag(3, BYTES)).string(request.id);
  for (const [key, value] of Object.entries(request.parameters ?? {})) {
    w.uint32(tag(4, BYTES)).fork();
    w.uint32(tag(1, BYTES)).string(key);
    w.uint32(tag(2, BYTES)).fork();
    parameter(w, value);
    w.ldelim().ldelim();
  }
  for (const input of request.inputs) tensorHeader(w, input);
  for (const name of request.outputs ?? []) {
    w.uint32(tag(6, BYTES)).fork();
    w.uint32(tag(1, BYTES)).string(name).ldelim();
  }
  for (const input of request.inputs) w.uint32(tag(7, BYTES)).bytes(input.data);
  return Buffer.from(w.finish());
}

function tensorHeader(w: protobuf.Writer, tensor: Tensor): void {
  w.uint32(tag(5, BYTES)).fork();
  w.uint32(tag(1, BYTES)).string(tensor.name);
  w.uint32(tag(2, BYTES)).string(tensor.datatype);
  w.uint32(tag(3, BYTES)).fork();
  for (const dim of tensor.shape) w.int64(dim);
  w.ldelim().ldelim();
}

function parameter(w: protobuf.Writer, value: boolean | number | bigint | string): void {
  if (typeof value === 'boolean') w.uint32(tag(1, VARINT)).bool(value);
  else if (typeof value === 'string') w.uint32(tag(3, BYTES)).string(value);
  else if (typeof value === 'bigint') w.uint32(tag(2, VARINT)).int64(String(value));
  else if (Number.isSafeInteger(value)) w.uint32(tag(2, VARINT)).int64(value);
  else w.uint32(tag(4, FIXED64)).double(value);
}

function tag(field: number, type: number): number {
  return field * 8 + type;
}
