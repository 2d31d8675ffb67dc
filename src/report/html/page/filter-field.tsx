import type { JSX } from 'preact';

/** The field that `/` leads to. */
export function FilterField({
  words,
  of,
  onWords,
}: {
  readonly words: string;
  /** What a word may be part of. */
  readonly of: string;
  readonly onWords: (words: string) => void;
}): JSX.Element {
  return (
    <label>
      Filter{' '}
      <input id="filter" type="search" value={words} placeholder={`part of a ${of}`} onInput={(e) => onWords(e.currentTarget.value)} />
    </label>
  );
}
