/**
 * The alphabet of byte-level BPE: one printable character for each byte (GPT-2's `bytes_to_unicode`, openai/gpt-2
 * `src/encoder.py`). Printable bytes stand for themselves, the others for U+0100 and up, in their order.
 */
export const SYMBOL_OF_BYTE: readonly string[] = (() => {
  const printable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
})();

export const BYTE_OF_SYMBOL: ReadonlyMap<string, number> = new Map(SYMBOL_OF_BYTE.map((symbol, byte) => [symbol, byte]));

/** Name of the token that stands for one byte under byte fallback: `<0x0A>`. */
export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

/** The byte that a token stands for under byte fallback; undefined for every other token. Rust reads `<0x+A>` too. */
export function byteOfToken(token: string): number | undefined {
  const digits = /^<0x(\+[0-9A-Fa-f]|[0-9A-Fa-f]{2})>$/u.exec(token)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}
