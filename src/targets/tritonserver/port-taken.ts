/** The line of a server's log that says that another program has one of its ports. */
export function findPortTaken(lines: readonly string[]): string | undefined {
  return lines.find((line) => /already in use|failed to (?:start|create).*socket/i.test(line));
}
