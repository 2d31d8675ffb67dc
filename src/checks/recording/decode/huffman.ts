/** HPACK's Huffman code. Source: RFC 7541, appendix B; the code is canonical, so the lengths say all of it. */

/** Bits of the code of each byte, and of the end of the string, in base 36. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const END = 256;

interface Row {
  /** The first code of this length, and where its symbol stands among all, sorted by code. */
  readonly first: number;
  readonly index: number;
  readonly count: number;
}

const lengths = Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36));
const symbols = lengths.map((_, symbol) => symbol).toSorted((a, b) => lengths[a]! - lengths[b]! || a - b);
const rows: Row[] = [];
for (let length = 0, code = 0, index = 0; length <= 30; length++, code *= 2) {
  const count = lengths.filter((l) => l === length).length;
  rows.push({ first: code, index, count });
  code += count;
  index += count;
}

/** Undefined when the bytes are no string of that code: the end in its middle, or a rest that is no start of the end. */
export function unhuffman(bytes: Uint8Array): Buffer | undefined {
  const out: number[] = [];
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      const row = rows[++length];
      if (row === undefined) return undefined;
      if (code - row.first >= row.count) continue;
      const symbol = symbols[row.index + code - row.first]!;
      if (symbol === END) return undefined;
      out.push(symbol);
      code = 0;
      length = 0;
    }
  }
  return length < 8 && code === 2 ** length - 1 ? Buffer.from(out) : undefined;
}
