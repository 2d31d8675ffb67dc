/** Errors of trtllm-serve: whatever is thrown before a response began is a bad request, the server's own faults too. */
import { HttpError, writePythonJson } from '../fastapi/index.ts';

/** What Python's `str(e)` gives for whatever went wrong while a request was handled. */
export class RequestFailure extends Error {}

/** The error object, 400. Source: create_error_response, tensorrt_llm/serve/openai_server.py. */
export function badRequest(text: string): HttpError {
  const body = new Map<string, string | bigint | null>([
    ['object', 'error'],
    ['message', text],
    ['type', 'BadRequestError'],
    ['param', null],
    ['code', 400n],
  ]);
  return new HttpError(400, writePythonJson(body));
}

/** What nobody caught: Starlette's own answer. */
export function internalServerError(): HttpError {
  return new HttpError(500, 'Internal Server Error', 'text/plain; charset=utf-8');
}
