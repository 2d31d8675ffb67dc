/**
 * One response as the flat JSON object of generate: keys sorted, one element without brackets, several as one flat
 * list. Source: GenerateRequestClass::FinalizeResponse and ExactMappingOutput, src/http_server.cc (2.51).
 */
import type { CoreProfile } from '#core/profile/index.ts';
import { JsonTensorError, tensorDataToJson } from '#wire/protocol/json-tensors.ts';
import type { WritableJson } from '#wire/protocol/json-value.ts';
import { writeJson } from '#wire/protocol/json-writer.ts';
import { elementCount } from '#wire/protocol/tensors.ts';
import { CoreError, type CoreInferResponse } from '../core/types.ts';

/** Errors: the response's own, or CoreError when a tensor has no JSON form. */
export function generateJson(response: CoreInferResponse, { generateWritesEmptyOutputs }: CoreProfile): Buffer {
  if (response.error !== undefined) throw response.error;
  const fields = new Map<string, WritableJson>();
  const add = (key: string, value: WritableJson) => {
    if (!fields.has(key)) fields.set(key, value);
  };
  if (response.id !== '') add('id', response.id);
  add('model_name', response.modelName);
  add('model_version', response.modelVersion);
  for (const [key, value] of response.parameters) add(key, value);
  for (const output of response.outputs) {
    if (!generateWritesEmptyOutputs.value && elementCount(output.shape) === 0)
      throw new CoreError('INTERNAL', "attempt to access non-existing array index '0'");
    const data = jsonData(() => tensorDataToJson(output.name, output.datatype, output.shape, output.data));
    add(output.name, elementCount(output.shape) === 1 ? (data[0] ?? null) : data);
  }
  const sorted = [...fields].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return writeJson(new Map(sorted));
}

/** The wire's error as the core's. */
export function jsonData<T>(convert: () => T): T {
  try {
    return convert();
  } catch (thrown) {
    if (thrown instanceof JsonTensorError) throw new CoreError(thrown.kind === 'invalid' ? 'INVALID_ARG' : 'INTERNAL', thrown.message);
    throw thrown;
  }
}
