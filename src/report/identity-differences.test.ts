import { expect, test } from 'vitest';
import { identityDifferences, refuseOtherIdentity } from './identity-differences.ts';

const ONE = { weights: 'w1', tokenizer: 't1', triton: '2.48.0' };
const OTHER = { ...ONE, triton: '2.51.0' };

test('every recording in use is compared, and what one side does not know is no difference', () => {
  expect(identityDifferences([ONE, OTHER], { ...ONE, gpu: 'H200' })).toEqual([{ key: 'triton', golden: '2.51.0', target: '2.48.0' }]);
  expect(identityDifferences([{ ...ONE, weights: 'unknown' }], { ...ONE, triton: 'unknown' })).toEqual([]);
});

test('strict accepts the identity that the goldens were recorded on', () => {
  expect(() => refuseOtherIdentity([ONE], ONE)).not.toThrow();
});

test.each([
  ['a difference', [ONE, OTHER], ONE, '[identity-differs]'],
  ['no recording', [], ONE, 'there are no goldens'],
  ['a target that does not know its weights', [ONE], { ...ONE, weights: 'unknown' }, 'the target does not tell its weights'],
  ['a target without a tokenizer', [ONE], { weights: 'w1' }, 'the target does not tell its tokenizer'],
  ['one silent recording', [ONE, { triton: '2.48.0' }], ONE, 'a recording of the goldens does not tell its weights; a recording'],
])('strict refuses %s', (_, recordings, target, text) => {
  expect(() => refuseOtherIdentity(recordings as never, target as never)).toThrow(text);
});
