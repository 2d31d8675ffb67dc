import type { CoreInferResponse, CoreTensor, ParameterValue } from '../core/index.ts';
import type { OutputPlacement } from './infer-request.ts';
import { bytesField, EMPTY, int64Field, stringField, varintSize, writeVarint } from './protobuf.ts';

/** InferParameter as bytes; members of a oneof are written even when they hold the default. */
function parameterBytes(value: ParameterValue): Buffer {
  if (typeof value === 'boolean') return Buffer.from([1 << 3, value ? 1 : 0]);
  if (typeof value === 'bigint') return int64Field(2, value);
  if (typeof value === 'string') return bytesField(3, Buffer.from(value, 'utf8'));
  const out = Buffer.alloc(9);
  out[0] = (4 << 3) | 1;
  out.writeDoubleLE(value, 1);
  return out;
}

/** One entry of a map<string, InferParameter> in field `field`. */
function parameterEntry(field: number, key: string, value: ParameterValue): Buffer {
  return bytesField(field, Buffer.concat([stringField(1, key), bytesField(2, parameterBytes(value))]));
}

const FINAL = parameterEntry(4, 'triton_final_response', true);
const NOT_FINAL = parameterEntry(4, 'triton_final_response', false);

/** name and datatype of output tensors, the same few for every response. */
const tensorHeads = new Map<string, Buffer>();

function tensorHead(tensor: CoreTensor): Buffer {
  const key = `${tensor.datatype} ${tensor.name}`;
  let head = tensorHeads.get(key);
  if (head === undefined) tensorHeads.set(key, (head = Buffer.concat([stringField(1, tensor.name), stringField(2, tensor.datatype)])));
  return head;
}

/**
 * Writes the responses of one request. What does not change between them (names, version, id, parameters) is encoded
 * once.
 */
export class ResponseEncoder {
  readonly #id: Buffer;
  readonly #placements: ReadonlyMap<string, OutputPlacement>;
  #head: Buffer = EMPTY;
  #headOf: { readonly model: string; readonly version: string; readonly parameters: ReadonlyMap<string, ParameterValue> } | undefined;

  constructor(id: string, placements: ReadonlyMap<string, OutputPlacement>) {
    this.#id = stringField(3, id);
    this.#placements = placements;
  }

  /** ModelInferResponse; an output in shared memory has an empty raw entry and no parameters (observed). `final` undefined: no `triton_final_response` parameter (unary calls). */
  unary(response: CoreInferResponse, final: boolean | undefined): Buffer {
    return this.#message(response, final, 0);
  }

  /** ModelStreamInferResponse around a response with outputs. */
  streamed(response: CoreInferResponse, final: boolean): Buffer {
    return this.#message(response, final, 1);
  }

  /** ModelStreamInferResponse for the flag-only end: `modelVersion` as the client asked for it. */
  flagOnly(modelName: string, modelVersion: string): Buffer {
    return bytesField(2, Buffer.concat([stringField(1, modelName), stringField(2, modelVersion), this.#id, FINAL]));
  }

  /** ModelStreamInferResponse for an error of the model: model_version as the client asked for it. */
  failed(text: string, modelName: string, modelVersion: string, final: boolean): Buffer {
    const inner = Buffer.concat([stringField(1, modelName), stringField(2, modelVersion), this.#id, final ? FINAL : NOT_FINAL]);
    return Buffer.concat([stringField(1, text), bytesField(2, inner)]);
  }

  /** ModelStreamInferResponse for a request that was refused before it was queued: error and id, nothing else. */
  refused(text: string): Buffer {
    return Buffer.concat([stringField(1, text), bytesField(2, this.#id)]);
  }

  #message(response: CoreInferResponse, final: boolean | undefined, wrap: 0 | 1): Buffer {
    const head = this.#headFor(response);
    const overridden = response.parameters.has('triton_final_response');
    const flag = final === undefined || overridden ? EMPTY : final ? FINAL : NOT_FINAL;
    const { outputs } = response;
    let size = head.length + flag.length;
    const heads: Buffer[] = [];
    for (const tensor of outputs) {
      const tensorStart = tensorHead(tensor);
      heads.push(tensorStart);
      const tensorSize = tensorStart.length + shapeSize(tensor.shape);
      size += 1 + varintSize(tensorSize) + tensorSize;
      const length = this.#placements.has(tensor.name) ? 0 : tensor.data.length;
      size += 1 + varintSize(length) + length;
    }
    const out = Buffer.allocUnsafe(wrap === 1 ? 1 + varintSize(size) + size : size);
    let at = 0;
    if (wrap === 1) {
      out[at++] = (2 << 3) | 2;
      at = writeVarint(out, at, size);
    }
    out.set(head, at);
    at += head.length;
    out.set(flag, at);
    at += flag.length;
    for (let i = 0; i < outputs.length; i++) {
      const tensor = outputs[i] as CoreTensor;
      const start = heads[i] as Buffer;
      out[at++] = (5 << 3) | 2;
      at = writeVarint(out, at, start.length + shapeSize(tensor.shape));
      out.set(start, at);
      at = writeShape(out, at + start.length, tensor.shape);
    }
    for (const tensor of outputs) {
      out[at++] = (6 << 3) | 2;
      const data = this.#placements.has(tensor.name) ? EMPTY : tensor.data;
      at = writeVarint(out, at, data.length);
      out.set(data, at);
      at += data.length;
    }
    return out;
  }

  #headFor(response: CoreInferResponse): Buffer {
    const { modelName: model, modelVersion: version, parameters } = response;
    const cached = this.#headOf;
    if (cached?.model !== model || cached.version !== version || cached.parameters !== parameters) {
      const entries = [...parameters].map(([key, value]) => parameterEntry(4, key, value));
      this.#head = Buffer.concat([stringField(1, model), stringField(2, version), this.#id, ...entries]);
      this.#headOf = { model, version, parameters };
    }
    return this.#head;
  }
}

/** Packed int64 list in field 3; nothing for a scalar. */
function shapeSize(shape: readonly number[]): number {
  if (shape.length === 0) return 0;
  const packed = packedSize(shape);
  return 1 + varintSize(packed) + packed;
}

function packedSize(shape: readonly number[]): number {
  let size = 0;
  for (const d of shape) size += varintSize(d);
  return size;
}

function writeShape(out: Uint8Array, at: number, shape: readonly number[]): number {
  if (shape.length === 0) return at;
  out[at++] = (3 << 3) | 2;
  at = writeVarint(out, at, packedSize(shape));
  for (const d of shape) at = writeVarint(out, at, d);
  return at;
}
