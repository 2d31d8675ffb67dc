/** One line of `lockstep doctor`. */
import type { Environment, Settings } from '#core/config/index.ts';

export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly text: string;
  /** What to do, for warn and fail. */
  readonly next?: string;
}

export interface Patient {
  readonly settings: Settings;
  readonly env: Environment;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** Looks at one thing; never throws for what it finds. */
export type Examination = (patient: Patient) => Promise<readonly Finding[]>;

export const ok = (what: string, text: string): Finding => ({ level: 'ok', what, text });
export const warn = (what: string, text: string, next: string): Finding => ({ level: 'warn', what, text, next });
export const fail = (what: string, text: string, next: string): Finding => ({ level: 'fail', what, text, next });
