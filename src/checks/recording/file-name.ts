/** Ending of every fixture file; `.zst` follows it where the file is compressed. */
export const ENDING = '.fixture';
export const COMPRESSED = '.zst';
/** Of a fixture that is being written: what a killed recorder leaves of the exchange in flight. */
export const UNFINISHED = '.part';

const LONGEST = 100;

/** A file name of these words, whatever is in them: no separators, no dot at the start, nothing that a shell or a terminal reads otherwise. */
export function fixtureFileName(...words: readonly string[]): string {
  const name = words
    .map((word) => word.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, ''))
    .filter((word) => word !== '')
    .join('-')
    .slice(0, LONGEST);
  return `${name === '' ? 'exchange' : name}${ENDING}`;
}

/** Whether a path names a fixture, compressed or not; one that is not finished is none. */
export function isFixtureFile(path: string): boolean {
  return path.endsWith(ENDING) || path.endsWith(ENDING + COMPRESSED);
}
