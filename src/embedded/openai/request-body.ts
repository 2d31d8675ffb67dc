/**
 * From bytes to a validated request, the way FastAPI does it. Source: fastapi/routing.py (0.121) and the bodies in
 * request-schema.cases.json.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { WritableJson } from '#wire/protocol/json-value.ts';
import { errorsJson, HttpError, jsonBody, type SchemaError, type Validator, writePythonJson } from '../fastapi/index.ts';

/** Errors: HttpError 422, 400 for what cannot be decoded, 500 for what cannot be printed back. */
export function validatedBody<T>(validator: Validator<T>, headers: IncomingHttpHeaders, body: Buffer): T {
  const json = jsonBody(headers, body);
  if (!json.ok) throw unprocessable(json.errors);
  if (json.value === null) throw unprocessable([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  const result = validator.check(json.value, ['body']);
  if (!result.ok) throw unprocessable(result.errors);
  return result.value;
}

function unprocessable(errors: readonly SchemaError[]): HttpError {
  return new HttpError(422, printable(errorsJson(errors)));
}

/** A NaN in the request cannot be printed back: the server fails over its own error answer. */
function printable(json: WritableJson): string {
  try {
    return writePythonJson(json);
  } catch {
    throw new HttpError(500, 'Internal Server Error', 'text/plain; charset=utf-8');
  }
}
