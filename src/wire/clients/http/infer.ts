/**
 * POST /infer in both encodings: JSON `data`, or the binary tensor extension, where the raw bytes of the tensors follow
 * the JSON and `Inference-Header-Content-Length` tells where it ends. Source: triton-inference-server/server
 * docs/protocol/extension_binary_data.md.
 */
import { LockstepError } from '#core/errors/index.ts';
import { readJson } from '#wire/protocol/json-reader.ts';
import { jsonToTensorData, tensorDataToJson } from '#wire/protocol/json-tensors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type WritableJson } from '#wire/protocol/json-value.ts';
import { writeJson } from '#wire/protocol/json-writer.ts';
import { type Datatype, elementCount, type Tensor } from '#wire/protocol/tensors.ts';
import type { CallOptions, InferMessage, InferRequest } from '../types.ts';
import { type HttpAnswer, type HttpChannel, JSON_CONTENT } from './channel.ts';
import type { HttpRequest } from './exchange.ts';
import { modelPath } from './paths.ts';

const HEADER_LENGTH = 'inference-header-content-length';

export interface HttpInferOptions extends CallOptions {
  /** Tensors as raw bytes, both ways; otherwise as JSON, which has no FP16 and BF16. */
  readonly binary: boolean;
}

/**
 * One inference; decoupled models refuse it (501).
 *
 * Errors: `http-<status>`, `target-unreachable`, `http-broken`, `deadline`, `interrupted`, `response-malformed`.
 */
export async function infer(channel: HttpChannel, request: InferRequest, options: HttpInferOptions): Promise<InferMessage> {
  return decodeAnswer(await channel.ok(encodeRequest(request, options.binary), options));
}

function encodeRequest(request: InferRequest, binary: boolean): HttpRequest {
  const members: [string, WritableJson][] = [];
  if (request.id !== '') members.push(['id', request.id]);
  const parameters: [string, WritableJson][] = Object.entries(request.parameters ?? {}).map(([k, v]) => [
    k,
    typeof v === 'number' && Number.isInteger(v) ? BigInt(v) : v,
  ]);
  if (binary) parameters.push(['binary_data_output', true]);
  if (parameters.length > 0) members.push(['parameters', new Map(parameters)]);
  members.push(['inputs', request.inputs.map((input) => inputJson(input, binary))]);
  if (request.outputs !== undefined) members.push(['outputs', request.outputs.map((name) => new Map([['name', name]]))]);
  const json = writeJson(new Map(members));
  const path = `${modelPath(request.model, request.version)}/infer`;
  if (!binary) return { method: 'POST', path, headers: JSON_CONTENT, body: json };
  const headers = { 'content-type': 'application/octet-stream', [HEADER_LENGTH]: String(json.length) };
  return { method: 'POST', path, headers, body: Buffer.concat([json, ...request.inputs.map((input) => input.data)]) };
}

function inputJson(input: Tensor, binary: boolean): WritableJson {
  const data: [string, WritableJson] = binary
    ? ['parameters', new Map([['binary_data_size', BigInt(input.data.byteLength)]])]
    : ['data', tensorDataToJson(input.name, input.datatype, input.shape, input.data)];
  return new Map<string, WritableJson>([['name', input.name], ['datatype', input.datatype], ['shape', input.shape.map(BigInt)], data]);
}

function decodeAnswer(answer: HttpAnswer): InferMessage {
  const length = answer.headers[HEADER_LENGTH];
  const headerEnd = length === undefined ? answer.body.length : Number(length);
  const json = answer.body.subarray(0, headerEnd);
  if (!utf8(json)) {
    throw malformed('its JSON is not valid UTF-8; ask for binary tensors to see the bytes');
  }
  const message = asObject(attempt(() => readJson(json)));
  let at = headerEnd;
  const outputs = list(message.get('outputs')).map((value): Tensor => {
    const output = asObject(value);
    const name = text(output.get('name'));
    const datatype = text(output.get('datatype')) as Datatype;
    const shape = list(output.get('shape')).map(Number);
    const parameters = output.get('parameters');
    const given = isJsonObject(parameters) ? parameters.get('binary_data_size') : undefined;
    if (given === undefined)
      return {
        name,
        datatype,
        shape,
        data: attempt(() => jsonToTensorData(name, datatype, output.get('data') ?? [], elementCount(shape))),
      };
    const size = Number(given);
    const data = answer.body.subarray(at, at + size);
    if (data.length !== size) throw malformed(`output ${name} should have ${size} bytes and has ${data.length}`);
    at += size;
    return { name, datatype, shape, data };
  });
  if (at !== answer.body.length) throw malformed(`${answer.body.length - at} bytes follow the last output`);
  const parameters = message.get('parameters');
  return {
    id: text(message.get('id') ?? ''),
    modelName: text(message.get('model_name')),
    modelVersion: text(message.get('model_version') ?? ''),
    outputs,
    parameters: (isJsonObject(parameters) ? parameters : new Map()) as InferMessage['parameters'],
    final: undefined,
    errorMessage: undefined,
  };
}

function utf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw malformed((thrown as Error).message);
  }
}

function asObject(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw malformed('an object is missing');
  return value;
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (!isJsonArray(value)) throw malformed('a list is missing');
  return value;
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw malformed('a string is missing');
  return value;
}

function malformed(why: string): LockstepError {
  return new LockstepError('response-malformed', `the answer to /infer is malformed: ${why}`, {
    hint: 'Check that the address is the HTTP port of a Triton (8000 by default); if it is, report this server.',
  });
}
