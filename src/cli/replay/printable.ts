/** What stands in a fixture may come from anybody: it moves no cursor, changes no colour and turns no text around. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);
}
