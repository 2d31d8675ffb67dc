/** FastAPI, Starlette, Pydantic and uvicorn as far as OpenAI front ends show them: shared by all of them. */
export { HttpError, httpException } from './http-error.ts';
export { jsonBody } from './json-body.ts';
export * from './pydantic.ts';
export { pythonDumps } from './python-dumps.ts';
export { pythonFloat, readPythonJson, writePythonJson } from './python-json.ts';
export { errorsRepr, pythonRepr } from './python-repr.ts';
export { addHeaders, cutConnection, reply, type ReplyOptions, startStream } from './reply.ts';
export { route, type Route } from './router.ts';
export { type AppOptions, serveApp } from './serve.ts';
