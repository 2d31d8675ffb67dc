/**
 * Where the Unicode tables of Node (17.0) are newer than those of the Rust library, so that words and normal forms come out
 * as there. Found by asking both about every code point (tokenizers 0.23.2; docs/decisions/003-tokenizer.md).
 */

/** Version of the tables that these lists were made against; a test tells when Node brings others. */
export const NODE_UNICODE = '17.0';

/** What Unicode 17 added: unassigned for Oniguruma, hence neither letter nor number. */
const ADDED_IN_17 =
  String.raw`\u{88f}\u{c5c}\u{cdc}\u{1acf}-\u{1add}\u{1ae0}-\u{1aeb}\u{20c1}\u{2b96}\u{a7ce}-\u{a7cf}\u{a7d2}\u{a7d4}\u{a7f1}` +
  String.raw`\u{fbc3}-\u{fbd2}\u{fd90}-\u{fd91}\u{fdc8}-\u{fdce}\u{10940}-\u{10959}\u{10ec5}-\u{10ec7}\u{10ed0}-\u{10ed8}` +
  String.raw`\u{10efa}-\u{10efb}\u{11b60}-\u{11b67}\u{11db0}-\u{11ddb}\u{11de0}-\u{11de9}\u{16ea0}-\u{16eb8}\u{16ebb}-\u{16ed3}` +
  String.raw`\u{16ff2}-\u{16ff6}\u{187f8}-\u{187ff}\u{18d09}-\u{18d1e}\u{18d80}-\u{18df2}\u{1ccfa}-\u{1ccfc}\u{1ceba}-\u{1ced0}` +
  String.raw`\u{1cee0}-\u{1cef0}\u{1e6c0}-\u{1e6de}\u{1e6e0}-\u{1e6f5}\u{1e6fe}-\u{1e6ff}\u{1f6d8}\u{1f777}-\u{1f77a}` +
  String.raw`\u{1f8d0}-\u{1f8d8}\u{1fa54}-\u{1fa57}\u{1fa8a}\u{1fa8e}\u{1fac8}\u{1facd}\u{1faea}\u{1faef}\u{1fbfa}` +
  String.raw`\u{2b73a}-\u{2b73f}\u{2cea2}-\u{2cead}\u{323b0}-\u{33479}`;

/** Marks, and parts of composed letters, that came after Unicode 9: for the normalizer they combine with nothing. */
const COMBINING_AFTER_9 =
  String.raw`\u{7fd}\u{897}-\u{89f}\u{8ca}-\u{8d3}\u{9fe}\u{c3c}\u{d3b}-\u{d3c}\u{eba}\u{1715}\u{1abf}-\u{1add}\u{1ae0}-\u{1aeb}` +
  String.raw`\u{1df6}-\u{1dfa}\u{a82c}\u{105d2}\u{105da}\u{10d24}-\u{10d27}\u{10d69}-\u{10d6d}\u{10eab}-\u{10eac}` +
  String.raw`\u{10efa}-\u{10efb}\u{10efd}-\u{10eff}\u{10f46}-\u{10f50}\u{10f82}-\u{10f85}\u{11070}\u{1133b}\u{11382}\u{11384}` +
  String.raw`\u{1138b}\u{11390}\u{113b8}\u{113bb}\u{113c2}\u{113c9}\u{113ce}-\u{113d0}\u{1145e}\u{11839}-\u{1183a}\u{11930}` +
  String.raw`\u{11935}\u{1193d}-\u{1193e}\u{11943}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11d42}\u{11d44}-\u{11d45}\u{11d97}` +
  String.raw`\u{11f41}-\u{11f42}\u{1611e}-\u{16120}\u{16129}\u{1612f}\u{16d63}\u{16d67}\u{16ff0}-\u{16ff1}\u{1e08f}` +
  String.raw`\u{1e130}-\u{1e136}\u{1e2ae}\u{1e2ec}-\u{1e2ef}\u{1e4ec}-\u{1e4ef}\u{1e5ee}-\u{1e5ef}\u{1e6e3}\u{1e6e6}` +
  String.raw`\u{1e6ee}-\u{1e6ef}\u{1e6f5}`;

const newForOniguruma = new RegExp(`[${ADDED_IN_17}]`, 'gu');
const newForNfc = new RegExp(`([${COMBINING_AFTER_9}])`, 'u');

/** The text as Oniguruma's classes see it: unassigned code points, just as long, for those that it does not know. */
export function asOnigurumaSees(text: string): string {
  return text.replace(newForOniguruma, (character) => (character.length === 1 ? '\u0378' : '\u{1fffe}'));
}

/** Normal form C of Unicode 9. */
export function nfc(text: string): string {
  return text
    .split(newForNfc)
    .map((part) => (newForNfc.test(part) ? part : part.normalize('NFC')))
    .join('');
}
