import type { Lab } from '#checks/lab/lab.ts';
import type { RouteId } from '#core/request/index.ts';

/** What was sent did not meet what it was aimed at, and so says nothing. */
export const MISSED = Symbol('missed');

export interface DangerousExchange {
  readonly id: string;
  readonly statement: string;
  /** What releases were seen to do, to complete "known: …". */
  readonly known: string;
  readonly thread: string;
  /** Where the good request goes: ensemble when absent. */
  readonly route?: RouteId;
  /** Why the target has nothing to be asked, beside not having the route. */
  unless?(lab: Lab): string | undefined;
  /** How often it is sent, with a good request after each. */
  readonly times: number;
  /** How often each of these may be tried, where a try can miss what it is aimed at. Default 1. */
  readonly triesEach?: number;
  /** Sends it once, `i` times after it was sent already. Undefined when the reply is one that a server may give; otherwise what it was. */
  send(lab: Lab, i: number): Promise<string | undefined | typeof MISSED>;
}
