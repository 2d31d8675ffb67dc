/** Request parameters from JSON. Source: SetTritonParameterFromJsonParameter and ParseJsonTritonParams (2.51). */
import { isJsonObject, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import { CoreError, type ParameterValue } from '../core/types.ts';
import { asBool, asString, asUint, explained, isInt64 } from './json-access.ts';

/** Errors: INVALID_ARG for objects, arrays and null. */
export function customParameter(key: string, value: JsonValue): ParameterValue {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' || isInt64(value)) return value;
  if (typeof value === 'bigint') return Number(value);
  throw new CoreError('INVALID_ARG', `parameter '${key}' has invalid type. It should be either 'int', 'bool', or 'string'.`);
}

/** The `parameters` of an /infer request; `binary_data_output` is the front end's own and stays out of the map. */
export function inferParameters(request: JsonObject): {
  readonly parameters: Map<string, ParameterValue>;
  readonly binaryOutputs: boolean;
} {
  const parameters = new Map<string, ParameterValue>();
  let binaryOutputs = false;
  const json = request.get('parameters');
  if (json === undefined) return { parameters, binaryOutputs };
  if (!isJsonObject(json)) throw new CoreError('INTERNAL', 'failed to get request params.: attempt to get members for non-object');
  for (const [key, value] of json) {
    const unparsable = `Unable to parse '${key}'`;
    switch (key) {
      case 'sequence_id':
        parameters.set(key, typeof value === 'bigint' && value >= 0n ? value : explained(unparsable, () => asString(value)));
        break;
      case 'sequence_start':
      case 'sequence_end':
        parameters.set(
          key,
          explained(unparsable, () => asBool(value)),
        );
        break;
      case 'priority':
      case 'timeout':
        parameters.set(
          key,
          explained(unparsable, () => asUint(value)),
        );
        break;
      case 'binary_data_output':
        binaryOutputs = explained(unparsable, () => asBool(value));
        break;
      default:
        if (key.startsWith('triton_')) {
          throw new CoreError(
            'INVALID_ARG',
            "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.",
          );
        }
        parameters.set(key, customParameter(key, value));
    }
  }
  return { parameters, binaryOutputs };
}
