/** The cancel mark of one request; it can be set once and is only ever noticed, never enforced. */
export interface CancelToken {
  isCancelled(): boolean;
  cancel(): void;
  onCancel(run: () => void): void;
}

export function cancelToken(): CancelToken {
  let cancelled = false;
  let listeners: (() => void)[] = [];
  return {
    isCancelled: () => cancelled,
    cancel: () => {
      if (cancelled) return;
      cancelled = true;
      const run = listeners;
      listeners = [];
      for (const listener of run) listener();
    },
    onCancel: (run) => {
      if (cancelled) run();
      else listeners.push(run);
    },
  };
}
