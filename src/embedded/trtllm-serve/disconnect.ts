/** Source: await_disconnected, tensorrt_llm/serve/openai_server.py; docs/observed.md#trtllm-serve. */
import type { ServerResponse } from 'node:http';
import type { Generation } from './generation.ts';

/**
 * Asks at 0, 1, 2 … intervals after this call whether the client has gone, and aborts what it no longer waits for.
 *
 * @param everyMs 0: at once when it goes
 */
export function abortWhenGone(client: ServerResponse, generation: Generation, everyMs: number): void {
  const abort = () => {
    if (!generation.finished()) generation.abort();
  };
  if (everyMs === 0) {
    client.once('close', () => {
      if (!client.writableFinished) abort();
    });
    return;
  }
  const ask = () => {
    if (client.writableFinished) clearInterval(timer);
    else if (client.destroyed) {
      clearInterval(timer);
      abort();
    }
  };
  const timer = setInterval(ask, everyMs);
  timer.unref();
  client.once('finish', () => clearInterval(timer));
}
