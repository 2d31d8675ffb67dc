/** The shape of a command. */
import type { ParsedFlags } from '#core/config/index.ts';

export interface Terminal {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  readonly columns: number;
}

export interface CommandContext {
  readonly flags: ParsedFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly terminal: Terminal;
  /** Aborts at the first Ctrl-C; the second one ends the process. */
  readonly signal: AbortSignal;
}

/** Resolves to the exit code. Errors: any LockstepError, which ends the process with code 2. */
export type Command = (context: CommandContext) => Promise<number>;
