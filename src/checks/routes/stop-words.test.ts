import { expect, test } from 'vitest';
import { int32Values } from '#wire/protocol/tensors.ts';
import { wordListTensor } from './stop-words.ts';

// Ids and rows as NVIDIA's preprocessing model produced them (docs/observed.md#preprocessing).
test.each([
  [
    'stop, " stop", hello world, newline, </s>, User: (BPE)',
    [[725], [592], [673, 339], [203], [32, 19, 87, 34], [57, 385, 30]],
    [
      [725, 592, 673, 339, 203, 32, 19, 87, 34, 57, 385, 30],
      [1, 2, 4, 5, 9, 12, -1, -1, -1, -1, -1, -1],
    ],
  ],
  [
    'the same words (SPM)',
    [[588], [588], [585, 325], [836, 13], [2], [759, 61]],
    [
      [588, 588, 585, 325, 836, 13, 2, 759, 61],
      [1, 2, 4, 6, 7, 9, -1, -1, -1],
    ],
  ],
  ['one empty word', [[]], [[0], [-1]]],
  ['no word', [], [[0], [-1]]],
  ['empty words around one', [[], [725], []], [[725], [1]]],
  [
    'a comma does not split',
    [[725, 16, 673]],
    [
      [725, 16, 673],
      [3, -1, -1],
    ],
  ],
  [
    'two phrases',
    [[725], [673, 339]],
    [
      [725, 673, 339],
      [1, 3, -1],
    ],
  ],
])('%s', (_, phrases, [ids, ends]) => {
  const tensor = wordListTensor('stop_words_list', phrases);
  expect(tensor).toMatchObject({ name: 'stop_words_list', datatype: 'INT32', shape: [1, 2, ids?.length] });
  expect([...int32Values(tensor.data)]).toEqual([...(ids ?? []), ...(ends ?? [])]);
});
