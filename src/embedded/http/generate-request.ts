/**
 * A generate request as tensors: a key that names an input becomes that input, any other becomes a request parameter,
 * and the members of `parameters` are treated like top-level keys.
 * Source: GenerateRequestClass::ConvertGenerateRequest and ExactMappingInput, src/http_server.cc (2.51).
 */
import type { CoreProfile } from '#core/profile/index.ts';
import { jsonToTensorData, JsonTensorError } from '#wire/protocol/json-tensors.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import type { TensorMetadata } from '#wire/protocol/server-state.ts';
import { CoreError, type CoreInferRequest, type CoreTensor, type ParameterValue } from '../core/types.ts';
import { asString, explained, find, memberAsObject, members } from './json-access.ts';
import { customParameter } from './request-parameters.ts';

/** Errors: CoreError with the server's texts. */
export function generateRequest(
  modelName: string,
  modelVersion: string,
  json: JsonValue,
  inputs: readonly TensorMetadata[],
  core: CoreProfile,
): CoreInferRequest {
  const idJson = find(json, 'id');
  const id = idJson === undefined ? '' : explained("Unable to parse 'id'", () => asString(idJson));
  const mapped = new Mapping(new Map(inputs.map((input) => [input.name, input])), core);
  mapped.top(members(json));
  return { modelName, modelVersion, id, parameters: mapped.parameters, inputs: mapped.inputs, requestedOutputs: [] };
}

class Mapping {
  readonly inputs: CoreTensor[] = [];
  /** The id is among them: it is no input, so it is a parameter as well. */
  readonly parameters = new Map<string, ParameterValue>();
  private readonly core: CoreProfile;
  private readonly known: ReadonlyMap<string, TensorMetadata>;

  constructor(known: ReadonlyMap<string, TensorMetadata>, core: CoreProfile) {
    this.core = core;
    this.known = known;
  }

  top(json: JsonObject): void {
    for (const [key, value] of json) {
      if (key === 'parameters') this.nested(json);
      else this.add(key, value);
    }
  }

  private nested(json: JsonObject): void {
    if (this.known.has('parameters'))
      throw new CoreError('INVALID_ARG', "Keyword 'parameters' for nested schema also given as input tensor name");
    const object = explained("Expected JSON object for keyword: 'parameters'", () => memberAsObject(json, 'parameters'));
    explained("Converting keyword: 'parameters'", () => {
      for (const [key, value] of object) this.add(key, value);
    });
  }

  private add(key: string, value: JsonValue): void {
    const input = this.known.get(key);
    if (input === undefined) this.parameters.set(key, customParameter(key, value));
    else this.inputs.push(generateTensor(input, value, this.core));
  }
}

function generateTensor(input: TensorMetadata, value: JsonValue, core: CoreProfile): CoreTensor {
  const count = isJsonArray(value) ? value.length : 1;
  // A flat array did not fit the batch dimension beside one of a fixed size.
  if (
    isJsonArray(value) &&
    count !== 1 &&
    input.shape.every((dim, i) => (i === 0 ? dim === -1 : dim === 1)) &&
    !core.generateFlatArrayFitsBatch.value
  )
    throw new CoreError('INTERNAL', "Unable to parse 'data': Shape does not match true shape of 'data' field");
  try {
    // BYTES are looked at before the shape, the rest after it.
    if (input.datatype === 'BYTES') {
      const data = jsonToTensorData(input.name, 'BYTES', value, count);
      return { name: input.name, datatype: 'BYTES', shape: fittedShape(input, count), data };
    }
    const shape = fittedShape(input, count);
    return { name: input.name, datatype: input.datatype, shape, data: jsonToTensorData(input.name, input.datatype, value, count) };
  } catch (thrown) {
    if (thrown instanceof JsonTensorError) throw new CoreError(thrown.kind === 'invalid' ? 'INVALID_ARG' : 'INTERNAL', thrown.message);
    throw thrown;
  }
}

/** Fixed dimensions must divide the count; the innermost free one takes what is left, other free ones become 1. */
function fittedShape(input: TensorMetadata, count: number): number[] {
  const impossible = () => new CoreError('INVALID_ARG', `The schema can not convert input '${input.name}' to tensor with proper shape`);
  const shape = [...input.shape];
  let left = count;
  for (const dim of shape) {
    if (dim === -1) continue;
    if (left % dim !== 0) throw impossible();
    left /= dim;
  }
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== -1) continue;
    shape[i] = left;
    left = 1;
  }
  if (left !== 1) throw impossible();
  return shape;
}
