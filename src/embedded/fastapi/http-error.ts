/** An answer other than 200, thrown from wherever it is decided. */
export class HttpError extends Error {
  readonly status: number;
  readonly body: string;
  readonly type: string;
  constructor(status: number, body: string, type = 'application/json') {
    super(body);
    this.status = status;
    this.body = body;
    this.type = type;
  }
}

/** FastAPI's HTTPException. */
export function httpException(status: number, detail: string): HttpError {
  return new HttpError(status, JSON.stringify({ detail }));
}
