/** Why a model did not load, in Triton's own words. */
export interface LoadFailure {
  readonly model: string;
  readonly reason: string;
}

/** A line of Triton's log begins with a level and a date: `E1201 14:03:22.123456 1 model.cc:1]`. */
const LOG_LINE = /^[IWEF]\d{4}\s/;

/** Finds `failed to load '<model>' version <n>: <reason>` in a log; a reason goes on until the next line that begins as one. */
export function findLoadFailure(lines: readonly string[]): LoadFailure | undefined {
  for (const [at, line] of lines.entries()) {
    const match = /failed to load '([^']+)'(?: version \d+)?[:,] (.*)/.exec(line);
    if (match === null) continue;
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => LOG_LINE.test(one) || /^[+|]/.test(one));
    const reason = [match[2]!, ...rest.slice(0, end < 0 ? rest.length : end)].join('\n').trim().replace(/"$/, '').trim();
    return { model: match[1]!, reason };
  }
  return undefined;
}
