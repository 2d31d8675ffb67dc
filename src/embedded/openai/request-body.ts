/**
 * From bytes to a validated request, the way FastAPI does it. Source: fastapi/routing.py (0.121) and the bodies in
 * request-schema.cases.json.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue, WritableJson } from '#wire/protocol/json-value.ts';
import { errorsJson, type SchemaError, type Validator } from './pydantic.ts';
import { PythonJsonError, readPythonJson, writePythonJson } from './python-json.ts';
import { HttpError } from './http-error.ts';

/** Errors: HttpError 422, 400 for what cannot be decoded, 500 for what cannot be printed back. */
export function validatedBody<T>(validator: Validator<T>, headers: IncomingHttpHeaders, body: Buffer): T {
  const json = jsonBody(headers, body);
  if (json === null) throw unprocessable([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  const result = validator.check(json, ['body']);
  if (!result.ok) throw unprocessable(result.errors);
  return result.value;
}

function jsonBody(headers: IncomingHttpHeaders, body: Buffer): JsonValue {
  if (body.length === 0) return null;
  const undecodable = new HttpError(400, '{"detail":"There was an error parsing the body"}');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw undecodable;
  }
  if (!isJson(headers['content-type'])) return text;
  try {
    return readPythonJson(text);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw undecodable;
    if (!(thrown instanceof PythonJsonError)) throw thrown;
    throw unprocessable([
      {
        type: 'json_invalid',
        loc: ['body', thrown.position],
        msg: 'JSON decode error',
        input: new Map(),
        ctx: new Map([['error', thrown.message]]),
      },
    ]);
  }
}

/** No type counts as JSON; so does any `application/…+json`. */
function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^application\/(json|[^;]+\+json)\s*(;|$)/i.test(contentType.trim());
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
