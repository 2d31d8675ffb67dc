import { expect, test } from 'vitest';
import { profileOf, RELEASES } from '#core/profile/index.ts';
import { CANCELS_KILL } from './cancels-kill.ts';

test('the gap names the releases whose profile has it, and of 2.51 the BLS alone', () => {
  const listed = RELEASES.core.filter(({ id }) => CANCELS_KILL.listed(profileOf(`core=${id}`))).map(({ id }) => id);
  expect(CANCELS_KILL.releases).toEqual(listed);
  const newest = profileOf('core=2.51');
  expect(CANCELS_KILL.routes.filter((route) => CANCELS_KILL.listed(newest, route))).toEqual(['bls']);
  expect(CANCELS_KILL.listed(profileOf('ideal,core=2.48'))).toBe(false);
});
