/** Server-sent events as both of Triton's text front ends write them: `data: <payload>` and an empty line, nothing else. */

export const SSE_CONTENT_TYPE = 'text/event-stream; charset=utf-8';

/** End marker of the OpenAI routes; generate_stream has none. */
export const SSE_DONE = 'data: [DONE]\n\n';

const PREFIX = Buffer.from('data: ');
const SUFFIX = Buffer.from('\n\n');

/** One event. The payload is one line of JSON, so it is never split. */
export function sseEvent(payload: Uint8Array | string): Buffer {
  return Buffer.concat([PREFIX, typeof payload === 'string' ? Buffer.from(payload, 'utf8') : payload, SUFFIX]);
}
