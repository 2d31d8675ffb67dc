/** Errors with a stable code, the next step for the reader, and the facts that explain them. */
export type ErrorContext = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ErrorOptions {
  /** What the reader can do now, as one imperative sentence. */
  readonly hint?: string;
  /** Facts worth printing below the message (addresses, paths, counts, the last log lines). */
  readonly context?: ErrorContext;
  readonly cause?: unknown;
}

/**
 * The one error class of this project.
 *
 * `message` begins with the code in brackets, so that a log line alone is enough to look it up in docs/errors.md.
 */
export class LockstepError extends Error {
  override readonly name = 'LockstepError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly context: ErrorContext;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(`[${code}] ${message}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.context = options.context ?? {};
  }

  /** Wraps whatever was thrown; a LockstepError passes through unchanged. */
  static from(thrown: unknown, code = 'internal'): LockstepError {
    if (thrown instanceof LockstepError) return thrown;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new LockstepError(code, text, { cause: thrown });
  }
}

/** The text for a terminal: message, facts, next step. Never a stack trace. */
export function formatError(error: LockstepError): string {
  const lines = [printable(error.message)];
  for (const [key, value] of Object.entries(error.context)) {
    if (value === undefined) continue;
    const text = printable(String(value));
    lines.push(text.includes('\n') ? `  ${key}:\n${text.replace(/^/gm, '    ')}` : `  ${key}: ${text}`);
  }
  if (error.hint !== undefined) lines.push(`  next: ${printable(error.hint)}`);
  return lines.join('\n');
}

/** What came from outside must not move the cursor, change colours or turn text around; line breaks and tabs may stay. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (c) =>
    c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0)?.toString(16)}}`,
  );
}
