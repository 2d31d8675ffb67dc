/**
 * Bytes that need not be UTF-8 as a string, and back: a byte that is part of no character stands as the lone surrogate
 * U+DC00 + byte. Source: Python's error handler `surrogateescape` (PEP 383).
 */
import { isUtf8 } from 'node:buffer';

/** What a lead byte announces; any other byte stands alone. */
const length = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1);

export function textOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let out = '';
  for (let at = 0; at < bytes.length;) {
    const character = bytes.subarray(at, at + length(bytes[at]!));
    if (isUtf8(character)) {
      out += character.toString('utf8');
      at += character.length;
    } else {
      out += String.fromCharCode(0xdc00 + bytes[at]!);
      at++;
    }
  }
  return out;
}

export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts = text.split(/([\u{dc80}-\u{dcff}])/u);
  return Buffer.concat(parts.map((part, i) => (i % 2 === 1 ? Buffer.of(part.charCodeAt(0) - 0xdc00) : Buffer.from(part, 'utf8'))));
}
