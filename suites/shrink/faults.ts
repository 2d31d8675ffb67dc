/** Faults that are taken from failing case to script: other laws, routes and transports each. */
export const REPRODUCED: readonly string[] = [
  // gRPC, alone.
  'stop-words-ignored',
  'first-event-empty-text',
  'sequence-length-ignores-end-id',
  'bls-no-final-flag',
  'im-end-in-output',
  'decoupled-client-one-token',
  // HTTP and OpenAI.
  'no-end-marker-in-sse',
  'echo-default-nonstream',
  'sse-client-needs-done',
  'finish-reason-always-eos',
  'usage-null-trtllm',
  'chat-stream-without-role',
  // What others ask, asked, or left.
  'batch-gt1-wrong-concurrent-equal',
  'kv-reuse-first-call-differs',
  'cancel-leaks-kv-blocks-disagg',
  'engine-run-on-after-abort-python',
  'segv-generate-stream-close',
  'mm-reuse-needs-hash',
  'top-k-1-not-argmax-on-ties',
];

/** Requests that a case may cost here, and those whose cases need a longer company. */
export const BUDGET = 150;
export const LARGER_BUDGETS: Readonly<Record<string, number>> = { 'mm-reuse-needs-hash': 300, 'top-k-1-not-argmax-on-ties': 300 };
