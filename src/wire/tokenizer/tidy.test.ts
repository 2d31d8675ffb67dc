import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { loadTokenizer } from './load.ts';
import { tidied, tidiedStream } from './tidy.ts';
import type { Tokenizer } from './types.ts';

/** Texts and what `AutoTokenizer.decode` of transformers 4.57 makes of them. */
const OBSERVED: readonly (readonly [string, string])[] = [
  ['So , is it ? Yes ! End .', 'So, is it? Yes! End.'],
  ["I do n't ; he 's , we 've , they 're , I 'm", "I don't ; he's, we've, they're, I'm"],
  ["a ' b ' c", "a'b'c"],
  ["x ' ' y", "x'' y"],
  ["x n ' t  ' m  .", "xn't'm ."],
  ['(x ) a : b ; " c " %', '(x ) a : b ; " c " %'],
];

test('spaces go where transformers takes them away, and nowhere else', () => {
  expect(OBSERVED.map(([text]) => tidied(text))).toEqual(OBSERVED.map(([, text]) => text));
});

test('whatever comes and wherever it is cut, the pieces are the whole text tidied', () => {
  const alphabet = [' ', "'", 'n', 't', '.'];
  const given: string[] = [];
  const echo = { push: (ids: ArrayLike<number>) => Array.from(ids, (id) => alphabet[id]).join(''), flush: () => '' };
  let held = 0;
  for (let code = 0; code < alphabet.length ** 6; code++) {
    const stream = tidiedStream(echo);
    let text = '';
    let pieces = '';
    for (let k = 0, rest = code; k < 6; k++, rest = Math.floor(rest / alphabet.length)) {
      text += alphabet[rest % alphabet.length];
      pieces += stream.push([rest % alphabet.length]);
    }
    const end = stream.flush();
    if (end !== '') held++;
    if (pieces + end !== tidied(text)) given.push(`${JSON.stringify(text)}: ${JSON.stringify(pieces + end)}`);
  }
  expect(given).toEqual([]);
  expect(held).toBeGreaterThan(1000);
});

/** The tiny tokenizer with another tokenizer_config.json. */
function withConfig<T>(cleanUp: unknown, work: (tokenizer: Tokenizer) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-tidy-'));
  try {
    cpSync(join(TINY_CHECKPOINT, 'tokenizer.json'), join(dir, 'tokenizer.json'));
    const config = JSON.parse(readFileSync(join(TINY_CHECKPOINT, 'tokenizer_config.json'), 'utf8'));
    writeFileSync(join(dir, 'tokenizer_config.json'), JSON.stringify({ ...config, clean_up_tokenization_spaces: cleanUp }));
    return work(loadTokenizer(dir));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test.each([
  [true, 'It is. Is it?'],
  [false, 'It is . Is it ?'],
  [undefined, 'It is . Is it ?'],
])('a tokenizer follows its clean_up_tokenization_spaces: %s', (cleanUp, whole) => {
  withConfig(cleanUp, (tokenizer) => {
    const ids = tokenizer.encode('It is . Is it ?', { addSpecialTokens: false });
    expect(tokenizer.decode(ids)).toBe(whole);
    const stream = tokenizer.stream();
    const pieces = ids.map((id) => stream.push([id]));
    expect(pieces.join('') + stream.flush()).toBe(whole);
    // The LLM API tidies what each response brings, and a space that one ends with stays.
    const eager = tokenizer.stream({ eager: true });
    expect(ids.map((id) => eager.push([id])).join('')).toBe(ids.map((id) => tokenizer.decode([id])).join(''));
  });
});
