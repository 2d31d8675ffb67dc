/** Faults that one request shows, over each transport: taken from failing case to script. */
export const ALONE: readonly string[] = [
  // gRPC.
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
];

/** Those that depend on what others ask, asked or left, on how a client leaves, or on chance. */
export const IN_COMPANY: readonly string[] = [
  'batch-gt1-wrong-concurrent-equal',
  'kv-reuse-first-call-differs',
  'cancel-leaks-kv-blocks-disagg',
  'engine-run-on-after-abort-python',
  'mm-reuse-needs-hash',
  'top-k-1-not-argmax-on-ties',
];

/** Requests that a case may cost here, and those whose cases need a longer company. */
export const BUDGET = 150;
export const LARGER_BUDGETS: Readonly<Record<string, number>> = {
  'mm-reuse-needs-hash': 300,
  'top-k-1-not-argmax-on-ties': 300,
};
