import { threadId } from 'node:worker_threads';

let calls = 0;

/**
 * A request id that no other call to the same server has: the plan's id, then process, thread and a counter. The engine
 * cancels by id, and a reused id would reach the newer request only.
 */
export function uniqueRequestId(planId: string): string {
  return `${planId}.${process.pid.toString(36)}-${threadId}-${++calls}`;
}
