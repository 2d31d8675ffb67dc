import { isUtf8 } from 'node:buffer';

export type ParsedJson =
  | { readonly value: unknown; readonly text: string }
  | { readonly value?: undefined; readonly text?: undefined; readonly problem: string; readonly line: number; readonly column: number };

/**
 * The JSON of a file's bytes, or what is wrong with them and where; lines and columns count from 1.
 *
 * The problem never quotes more than one character: the file may be any file, and hold what nobody is to see.
 */
export function parseJson(bytes: Buffer): ParsedJson {
  if (!isUtf8(bytes)) {
    const [before, byte] = firstBroken(bytes);
    return { problem: `byte 0x${byte.toString(16).padStart(2, '0')} is no UTF-8`, ...placeOf(before, before.length) };
  }
  if (bytes.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf') {
    return { problem: 'it begins with a byte order mark, which JSON has none of', line: 1, column: 1 };
  }
  let text = '';
  try {
    text = bytes.toString('utf8');
    return { value: JSON.parse(text) as unknown, text };
  } catch (thrown) {
    const offset = offsetOfError(text);
    return { problem: problemOf((thrown as Error).message, text, offset), ...placeOf(text, offset) };
  }
}

/** The text before the first byte that is no UTF-8, and that byte. */
function firstBroken(bytes: Buffer): readonly [before: string, byte: number] {
  const text = bytes.toString('utf8');
  const back = Buffer.from(text);
  let at = 0;
  while (bytes[at] === back[at]) at++;
  // It may lie inside of the three bytes of U+FFFD that stand in its place.
  while (at > 0 && !isUtf8(bytes.subarray(0, at))) at--;
  return [bytes.toString('utf8', 0, at), bytes[at] ?? 0];
}

/** V8 does not say where an unexpected character stands: it is behind the longest beginning of which only the end is missing. */
function offsetOfError(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldGoOn(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function couldGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (thrown) {
    const { message } = thrown as Error;
    return message === 'Unexpected end of JSON input' || Number(/at position (\d+)/.exec(message)?.[1] ?? -1) >= beginning.length;
  }
}

function problemOf(message: string, text: string, offset: number): string {
  const [found] = Array.from(text.slice(offset, offset + 2));
  if (/^Unexpected (token|non-whitespace)/.test(message) && found !== undefined) return `unexpected ${JSON.stringify(found)}`;
  // A text that V8 cannot hold is none here.
  if (offset >= text.length && !message.startsWith('Cannot create')) return 'it ends too early';
  return message.replace(/ in JSON at position.*$|, "[^]*$/s, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
