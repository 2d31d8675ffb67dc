/**
 * From bytes to JSON, the way FastAPI reads a body. Source: fastapi/routing.py (0.115, 0.121); the bodies in
 * src/embedded/openai/request-schema.cases.json.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue } from '#wire/protocol/json-value.ts';
import { HttpError } from './http-error.ts';
import type { Checked } from './pydantic.ts';
import { PythonJsonError, readPythonJson } from './python-json.ts';

/**
 * Null for an empty body, the text itself when its type is no JSON; the error list for what is no JSON though it says so.
 *
 * Errors: HttpError 400 for what cannot be decoded.
 */
export function jsonBody(headers: IncomingHttpHeaders, body: Buffer): Checked<JsonValue> {
  if (body.length === 0) return { ok: true, value: null };
  const undecodable = new HttpError(400, '{"detail":"There was an error parsing the body"}');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw undecodable;
  }
  if (!isJson(headers['content-type'])) return { ok: true, value: text };
  try {
    return { ok: true, value: readPythonJson(text) };
  } catch (thrown) {
    if (thrown instanceof RangeError) throw undecodable;
    if (!(thrown instanceof PythonJsonError)) throw thrown;
    return {
      ok: false,
      errors: [
        {
          type: 'json_invalid',
          loc: ['body', thrown.position],
          msg: 'JSON decode error',
          input: new Map(),
          ctx: new Map([['error', thrown.message]]),
        },
      ],
    };
  }
}

/** No type counts as JSON; so does any `application/…+json`. */
function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^application\/(json|[^;]+\+json)\s*(;|$)/i.test(contentType.trim());
}
