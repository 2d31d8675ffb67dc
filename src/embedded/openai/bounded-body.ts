import type { IncomingMessage } from 'node:http';
import { HttpError } from '../fastapi/index.ts';

/**
 * The whole body, unless it is larger than the limit: then 413, before it is read where Content-Length tells, and else as
 * soon as it is. Source: frontend/fastapi/middleware/request_size.py (r26.06).
 *
 * Errors: HttpError 413. Rejects when the client goes away first.
 */
export async function boundedBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) throw tooLarge(announced, limit);
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    total += (chunk as Buffer).length;
    if (total > limit) throw tooLarge(total, limit);
  }
  return Buffer.concat(chunks);
}

function tooLarge(bytes: number, limit: number): HttpError {
  const message = `Request size of ${bytes} bytes exceeds the maximum allowed input size of ${limit} bytes. Use --http-max-input-size to increase the limit.`;
  return new HttpError(413, JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'content_too_large' } }));
}
