/**
 * The answer to /infer: JSON in Triton's key order, raw tensors behind it where they were asked for.
 * Source: InferRequestClass::FinalizeResponse, src/http_server.cc (2.51).
 */
import { tensorDataToJson } from '#wire/protocol/json-tensors.ts';
import type { WritableJson } from '#wire/protocol/json-value.ts';
import { writeJson } from '#wire/protocol/json-writer.ts';
import { CoreError, type CoreInferResponse, type SharedMemory } from '../core/types.ts';
import { classified } from './classification.ts';
import { jsonData } from './generate-response.ts';
import type { InferBody } from './infer-request.ts';

export interface InferAnswer {
  readonly body: Buffer;
  /** Bytes of the JSON part when raw tensors follow it. */
  readonly headerLength: number | undefined;
}

/** Errors: the response's own, or CoreError when a tensor has no JSON form. */
export function inferAnswer(response: CoreInferResponse, asked: InferBody, batched: boolean, memory: SharedMemory): InferAnswer {
  if (response.error !== undefined) throw response.error;
  const json = new Map<string, WritableJson>();
  if (response.id !== '') json.set('id', response.id);
  json.set('model_name', response.modelName);
  json.set('model_version', response.modelVersion);
  if (response.parameters.size > 0) json.set('parameters', response.parameters);
  const raw: Uint8Array[] = [];
  const outputs = response.outputs.map((original) => {
    const form = asked.forms.get(original.name) ?? asked.defaultForm;
    const output =
      form.kind !== 'shared-memory' && form.classes > 0 ? jsonData(() => classified(original, form.classes, batched)) : original;
    const entry = new Map<string, WritableJson>([
      ['name', output.name],
      ['datatype', output.datatype],
      ['shape', output.shape.map(BigInt)],
    ]);
    if (form.kind === 'binary') {
      entry.set('parameters', new Map([['binary_data_size', BigInt(output.data.byteLength)]]));
      if (output.data.byteLength > 0) raw.push(output.data);
    } else if (form.kind === 'json') {
      entry.set(
        'data',
        jsonData(() => tensorDataToJson(output.name, output.datatype, output.shape, output.data)),
      );
    } else {
      const needed = output.data.byteLength;
      if (needed > form.byteSize) {
        throw new CoreError(
          'INTERNAL',
          `shared memory size specified with the request for output '${output.name}' (${form.byteSize} bytes) should be at least ${needed} bytes to hold the results`,
        );
      }
      memory.write(form.region, form.offset, form.byteSize, output.data);
    }
    return entry;
  });
  json.set('outputs', outputs);
  const header = writeJson(json);
  return raw.length === 0
    ? { body: header, headerLength: undefined }
    : { body: Buffer.concat([header, ...raw]), headerLength: header.length };
}
