/** The environment of a server, in lines as docker run takes them: `NAME=VALUE`, or `NAME`. */
import { LockstepError } from '#core/errors/index.ts';

/** `NAME` takes its value from `env`. Errors: `env-missing`; no value is in any message. */
export function parseEnv(lines: readonly string[], env: Readonly<Record<string, string | undefined>>): string[] {
  return lines.map((line) => {
    if (line.includes('=')) return line;
    const value = env[line];
    if (value !== undefined) return `${line}=${value}`;
    throw new LockstepError('env-missing', `--env ${line} takes its value from here, and ${line} is not set`, {
      hint: `Set it (export ${line}=…), or write --env ${line}=VALUE.`,
    });
  });
}

/** The names alone: values may be secrets. */
export function envNames(lines: readonly string[]): string[] {
  return lines.map((line) => line.split('=', 1)[0]!);
}
