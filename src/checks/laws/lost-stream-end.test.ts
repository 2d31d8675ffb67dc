import { expect, test } from 'vitest';
import { profileOf, RELEASES } from '#core/profile/index.ts';
import { LOST_STREAM_END } from './lost-stream-end.ts';

test('the gap names the releases whose profile has it', () => {
  const listed = RELEASES.core.filter(({ id }) => LOST_STREAM_END.listed(profileOf(`core=${id}`))).map(({ id }) => id);
  expect(LOST_STREAM_END.releases).toEqual(listed);
  expect(LOST_STREAM_END.listed(profileOf('ideal,core=2.47'))).toBe(false);
});
