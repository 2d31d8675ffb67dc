import type { Model } from '../core/index.ts';

/** How long the slow instance sits on a chunk when no other chunk comes. */
const SLOW_INSTANCE_MS = 25;

/**
 * Fault `stream-reordered-postprocessing`: a second, slower instance gets every third request and answers after its
 * successor, as several postprocessing instances without preserve_ordering do
 * (triton-inference-server/server#8073).
 */
export function outOfOrder(execute: Model['execute']): Model['execute'] {
  let count = 0;
  let held: (() => void) | undefined;
  return (request, sender) => {
    const waiting = held;
    held = undefined;
    if (++count % 3 !== 2) {
      execute(request, sender);
      waiting?.();
      return;
    }
    waiting?.();
    const timer = setTimeout(() => {
      if (held === run) held = undefined;
      run();
    }, SLOW_INSTANCE_MS);
    let done = false;
    const run = (): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      // The exception of a slow instance is answered like any other.
      try {
        execute(request, sender);
      } catch (thrown) {
        sender.sendError('INTERNAL', (thrown as Error).message, true);
      }
    };
    held = run;
  };
}
