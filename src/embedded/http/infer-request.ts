/**
 * An /infer body as tensors: JSON, JSON with raw tensors behind it, or raw bytes only.
 * Source: GetInferenceHeaderLength, ParseJsonTritonIO and EVBufferToRawInput, src/http_server.cc (2.51).
 */
import { jsonToTensorData } from '#wire/protocol/json-tensors.ts';
import { isJsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import { type Datatype, ELEMENT_SIZE } from '#wire/protocol/tensors.ts';
import type { TensorMetadata } from '#wire/protocol/server-state.ts';
import { CoreError, type CoreInferRequest, type CoreTensor, type SharedMemory } from '../core/types.ts';
import { jsonData } from './generate-response.ts';
import { asString, asUint, explained, find, memberAsArray, memberAsString, parseJson } from './json-access.ts';
import { inferParameters } from './request-parameters.ts';

/** How one output is to be returned. */
export type OutputForm =
  | { readonly kind: 'json'; readonly classes: number }
  | { readonly kind: 'binary'; readonly classes: number }
  | { readonly kind: 'shared-memory'; readonly region: string; readonly offset: number; readonly byteSize: number };

export interface InferBody {
  readonly request: CoreInferRequest;
  readonly forms: ReadonlyMap<string, OutputForm>;
  /** For outputs that were not named. */
  readonly defaultForm: OutputForm;
}

export const JSON_FORM: OutputForm = { kind: 'json', classes: 0 };
export const BINARY_FORM: OutputForm = { kind: 'binary', classes: 0 };

/** Length of the JSON part. Errors: INVALID_ARG. */
export function inferenceHeaderLength(header: string | undefined, contentLength: number): number {
  if (header === undefined) return contentLength;
  const length = Number.parseInt(header, 10) || 0;
  if (length < 0 || length > contentLength) {
    throw new CoreError('INVALID_ARG', `inference header size should be in range (0, ${contentLength}), got: ${header}`);
  }
  return length;
}

export function inferBody(modelName: string, modelVersion: string, body: Buffer, headerLength: number, memory: SharedMemory): InferBody {
  const json = parseJson(body.subarray(0, headerLength));
  const idJson = find(json, 'id');
  const id = idJson === undefined ? '' : explained("Unable to parse 'id'", () => asString(idJson));
  const { parameters, binaryOutputs } = isJsonObject(json) ? inferParameters(json) : { parameters: new Map(), binaryOutputs: false };
  const raw = new RawPart(body.subarray(headerLength), modelName, headerLength);
  const inputs = explained("Unable to parse 'inputs'", () => memberAsArray(json, 'inputs')).map((input) => inputTensor(input, raw, memory));
  raw.mustBeUsedUp();
  const forms = new Map<string, OutputForm>();
  if (find(json, 'outputs') !== undefined) {
    for (const output of explained("Unable to parse 'outputs'", () => memberAsArray(json, 'outputs'))) {
      checkOutputParameters(output);
      const name = explained("Unable to parse 'name'", () => memberAsString(output, 'name'));
      if (!forms.has(name)) forms.set(name, outputForm(output, memory));
    }
  }
  const request = { modelName, modelVersion, id, parameters, inputs, requestedOutputs: [...forms.keys()] };
  return { request, forms, defaultForm: binaryOutputs ? BINARY_FORM : JSON_FORM };
}

/**
 * The whole body is the data of the model's one input, as InferenceRequest::AddRawInput and its normalisation in the
 * core make it; these errors are the core's. Errors: INVALID_ARG.
 */
export function rawInferBody(modelName: string, modelVersion: string, body: Buffer, inputs: readonly TensorMetadata[]): InferBody {
  const [input] = inputs;
  if (input === undefined || inputs.length !== 1) {
    throw new CoreError(
      'INVALID_ARG',
      `${NO_ID}Raw request must only have 1 input (found 1) to be deduced but got ${inputs.length} inputs in '${modelName}' model configuration`,
    );
  }
  const tensor: CoreTensor = { name: input.name, datatype: input.datatype, shape: rawShape(input, modelName, body.length), data: body };
  return {
    request: { modelName, modelVersion, id: '', parameters: new Map(), inputs: [tensor], requestedOutputs: [] },
    forms: new Map(),
    defaultForm: BINARY_FORM,
  };
}

const NO_ID = '[request id: <id_unknown>] ';

/** Fixed dimensions as configured; the last free one takes what the bytes allow, others are 1. */
function rawShape(input: TensorMetadata, modelName: string, byteSize: number): number[] {
  const fixed = input.shape.reduce((n, dim) => (dim === -1 ? n : n * dim), 1);
  const unit = fixed * Math.max(1, ELEMENT_SIZE[input.datatype]);
  const isFixed = !input.shape.includes(-1);
  if (input.datatype !== 'BYTES' && isFixed && byteSize !== unit) {
    throw new CoreError(
      'INVALID_ARG',
      `${NO_ID}input byte size mismatch for input 'raw_input' for model '${modelName}'. Expected ${unit}, got ${byteSize}`,
    );
  }
  const last = input.shape.lastIndexOf(-1);
  const free = input.datatype === 'BYTES' ? 1 : Math.floor(byteSize / unit);
  return input.shape.map((dim, i) => (dim !== -1 ? dim : i === last ? free : 1));
}

/** Tensor bytes behind the JSON, taken in the order of the inputs. */
class RawPart {
  private readonly bytes: Buffer;
  private readonly modelName: string;
  private readonly headerLength: number;
  private at = 0;

  constructor(bytes: Buffer, modelName: string, headerLength: number) {
    this.bytes = bytes;
    this.modelName = modelName;
    this.headerLength = headerLength;
  }

  take(input: string, byteSize: number): Buffer {
    if (byteSize > 0 && this.headerLength === 0) {
      throw new CoreError(
        'INVALID_ARG',
        "must specify valid 'Infer-Header-Content-Length' in request header and 'binary_data_size' when passing inputs in binary data format",
      );
    }
    const missing = byteSize - (this.bytes.length - this.at);
    if (missing > 0)
      throw new CoreError(
        'INVALID_ARG',
        `unexpected size for input '${input}', expecting ${missing} additional bytes for model '${this.modelName}'`,
      );
    const part = this.bytes.subarray(this.at, this.at + byteSize);
    this.at += byteSize;
    return part;
  }

  mustBeUsedUp(): void {
    if (this.at !== this.bytes.length) throw new CoreError('INVALID_ARG', `unexpected additional input data for model '${this.modelName}'`);
  }
}

function inputTensor(input: JsonValue, raw: RawPart, memory: SharedMemory): CoreTensor {
  checkOneSource(input);
  const name = explained("Unable to parse 'name'", () => memberAsString(input, 'name'));
  const typeName = explained("Unable to parse 'datatype'", () => memberAsString(input, 'datatype'));
  const datatype = (typeName in ELEMENT_SIZE ? typeName : '<invalid>') as Datatype;
  const shape = explained("Unable to parse 'shape'", () => memberAsArray(input, 'shape').map((dim) => Number(asUint(dim))));
  const parameters = find(input, 'parameters');
  const binarySize = find(parameters, 'binary_data_size');
  if (binarySize !== undefined) {
    const byteSize = Number(explained("Unable to parse 'binary_data_size'", () => asUint(binarySize)));
    return { name, datatype, shape, data: raw.take(name, byteSize) };
  }
  const region = sharedMemoryRegion(input);
  if (region !== undefined) return { name, datatype, shape, data: memory.read(region.region, region.offset, region.byteSize) };
  const count = shape.reduce((n, dim) => n * dim, shape.length === 0 ? 0 : 1);
  if (count === 0) return { name, datatype, shape, data: new Uint8Array(0) };
  const data = explained("Unable to parse 'data'", () => memberAsArray(input, 'data'));
  return { name, datatype, shape, data: jsonData(() => jsonToTensorData(name, datatype, data, count)) };
}

function checkOneSource(input: JsonValue): void {
  const parameters = find(input, 'parameters');
  const set = [
    find(input, 'data') !== undefined && " 'data'",
    find(parameters, 'binary_data_size') !== undefined && " 'binary_data_size'",
    find(parameters, 'shared_memory_region') !== undefined && " 'shared_memory_region'",
  ].filter((name) => name !== false);
  if (set.length === 1) return;
  const but = set.length === 0 ? ' no field is set' : ` set${set.join('')}`;
  throw new CoreError(
    'INVALID_ARG',
    `Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in 'parameters'. But${but}`,
  );
}

function checkOutputParameters(output: JsonValue): void {
  const parameters = find(output, 'parameters');
  if (find(parameters, 'shared_memory_region') === undefined) return;
  if (find(parameters, 'classification') !== undefined)
    throw new CoreError('INVALID_ARG', "Output can't set both 'shared_memory_region' and 'classification'");
  if (find(parameters, 'binary_data') === true)
    throw new CoreError('INVALID_ARG', "Output can't set both 'shared_memory_region' and 'binary_data'");
}

function outputForm(output: JsonValue, memory: SharedMemory): OutputForm {
  const parameters = find(output, 'parameters');
  const classification = find(parameters, 'classification');
  const classes = classification === undefined ? 0 : Number(explained("Unable to set 'classification'", () => asUint(classification)));
  const region = sharedMemoryRegion(output);
  if (region !== undefined) {
    memory.read(region.region, region.offset, region.byteSize); // refused now when the region does not hold it
    return { kind: 'shared-memory', ...region };
  }
  const binary = find(parameters, 'binary_data');
  const kind =
    binary !== undefined && explained("Unable to parse 'binary_data'", () => (typeof binary === 'boolean' ? binary : notBoolean()))
      ? 'binary'
      : 'json';
  return { kind, classes };
}

function notBoolean(): never {
  throw new CoreError('INTERNAL', 'attempt to access JSON non-boolean as boolean');
}

function sharedMemoryRegion(
  tensor: JsonValue,
): { readonly region: string; readonly offset: number; readonly byteSize: number } | undefined {
  const parameters = find(tensor, 'parameters');
  const region = find(parameters, 'shared_memory_region');
  if (region === undefined) return undefined;
  const number = (key: string) => {
    const value = find(parameters, key);
    return value === undefined ? 0 : Number(explained(`Unable to parse '${key}'`, () => asUint(value)));
  };
  return {
    region: explained("Unable to parse 'shared_memory_region'", () => asString(region)),
    offset: number('shared_memory_offset'),
    byteSize: number('shared_memory_byte_size'),
  };
}
