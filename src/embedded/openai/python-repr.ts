/** Python's repr, as far as error details show it. Source: CPython Objects/unicodeobject.c, unicode_repr. */
import type { CoreErrorCode, CoreInferResponse, ParameterValue } from '../core/types.ts';
import { pythonFloat } from './python-json.ts';

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Single quotes, or double ones when the text has single quotes and no double ones. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(
    /[\\\n\r\t]|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu,
    (char) => SHORT[char] ?? escaped(char.codePointAt(0) ?? 0),
  );
  return `${quote}${quote === "'" ? body.replaceAll("'", "\\'") : body}${quote}`;
}

function escaped(codePoint: number): string {
  const hex = codePoint.toString(16);
  if (codePoint < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return codePoint < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

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
