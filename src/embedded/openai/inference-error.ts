/** The text of an error that the in-process binding raises. */
import type { CoreErrorCode, CoreInferResponse, ParameterValue } from '../core/types.ts';
import { pythonFloat, pythonRepr } from '../fastapi/index.ts';

/** Exception classes of the in-process binding. Source: core/python/tritonserver/_c/tritonserver_pybind.cc. */
const CLASS: Readonly<Record<CoreErrorCode, string>> = {
  INTERNAL: 'InternalError',
  INVALID_ARG: 'InvalidArgumentError',
  NOT_FOUND: 'NotFoundError',
  UNAVAILABLE: 'UnavailableError',
  UNSUPPORTED: 'UnsupportedError',
  ALREADY_EXISTS: 'AlreadyExistsError',
  UNKNOWN: 'UnknownError',
  CANCELLED: 'CancelledError',
};

/**
 * str() of the exception that an error response raises: a tuple of the text and the response
 * (docs/observed.md#openai-front-end-r25-12: `('scripted model error', InferenceResponse(model={'name': …`).
 */
export function inferenceErrorText(message: string, code: CoreErrorCode, response: CoreInferResponse, final: boolean): string {
  const parameters = [...response.parameters].map(([key, value]) => `${pythonRepr(key)}: ${parameterRepr(value)}`).join(', ');
  const model = `{'name': ${pythonRepr(response.modelName)}, 'version': ${response.modelVersion || '-1'}, 'state': None}`;
  return (
    `(${pythonRepr(message)}, InferenceResponse(model=${model}, request_id=${pythonRepr(response.id)}, parameters={${parameters}}, ` +
    `outputs={}, error=${CLASS[code]}(...), classification_label=None, final=${final ? 'True' : 'False'}))`
  );
}

function parameterRepr(value: ParameterValue): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return pythonFloat(value);
  return typeof value === 'string' ? pythonRepr(value) : String(value);
}
