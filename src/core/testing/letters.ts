import fc from 'fast-check';

/** What breaks readers of text, as a unit of `fc.string`: its own set of all characters takes seconds to make. */
export const LETTER: fc.Arbitrary<string> = fc.constantFrom(
  ...Array.from('aZ0 \t\n\r\0\u007f"\'\\{}[]<>:,;#$-'),
  'é',
  '日',
  '🙂',
  '\u00a0',
  '\u202e',
  '\ufeff',
);
