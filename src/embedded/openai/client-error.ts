import { type HttpError, httpException } from '../fastapi/index.ts';

/** ClientError of the front end: 400 since 24.11. */
export function clientError(detail: string): HttpError {
  return httpException(400, detail);
}
