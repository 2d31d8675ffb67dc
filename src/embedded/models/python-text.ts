import { ExecuteError } from '../core/index.ts';

/**
 * Decodes UTF-8 as Python's `bytes.decode()` does: strict, with Python's own words when it cannot.
 *
 * Errors: ExecuteError `UnicodeDecodeError: 'utf-8' codec can't decode …`.
 */
export function decodeUtf8(bytes: Uint8Array, at: readonly string[]): string {
  try {
    return strictUtf8(bytes);
  } catch (thrown) {
    throw new ExecuteError(`UnicodeDecodeError: ${(thrown as Error).message}`, at);
  }
}

/** The same with the error's text alone, as `str(e)` gives it. Throws Error. */
export function strictUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const { start, end, reason } = firstFault(bytes);
    const hex = (bytes[start] ?? 0).toString(16).padStart(2, '0');
    const where = end - start === 1 ? `byte 0x${hex} in position ${start}` : `bytes in position ${start}-${end - 1}`;
    throw new Error(`'utf-8' codec can't decode ${where}: ${reason}`);
  }
}

function firstFault(bytes: Uint8Array): { start: number; end: number; reason: string } {
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i] as number;
    const length =
      lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (length === 0) return { start: i, end: i + 1, reason: 'invalid start byte' };
    for (let k = 1; k < length; k++) {
      const next = bytes[i + k];
      if (next === undefined) return { start: i, end: bytes.length, reason: 'unexpected end of data' };
      const low = k > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const high = k > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (next < low || next > high) return { start: i, end: i + k, reason: 'invalid continuation byte' };
    }
    i += length;
  }
  return { start: 0, end: 1, reason: 'invalid start byte' };
}
