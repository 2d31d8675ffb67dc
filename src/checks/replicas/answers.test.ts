import { describe, expect, test } from 'vitest';
import { type Asked, whoDiffers } from './answers.ts';
import { assertSameIdentity } from './identity.ts';

/** One letter per replica: its answer; of goldens `=` the accepted one, `!` another; `~` in `forgiven`: as the first, to the policy. */
const asked = (keys: string, goldens = '', forgiven = '', explained = false): Asked => ({
  what: 'one',
  seen: keys.split('').map((key, i) => ({
    key,
    asFirst: key === keys[0] || forgiven[i] === '~',
    accepted: goldens[i] === '=' ? true : goldens[i] === '!' ? false : undefined,
  })),
  explained,
  difference: '',
});

describe('who differs', () => {
  test('nobody, when all agree or the policy explains it', () => {
    expect(whoDiffers([asked('aaa', '==='), asked('aab', '', '  ~', true)]).differing).toEqual([]);
  });

  test('the one whose answers are not the accepted ones, counted over those that have one', () => {
    const all = [asked('aa', '=='), asked('ab', '=!'), asked('ab', '=!'), asked('xy')];
    expect(whoDiffers(all)).toMatchObject({ by: 'goldens', judged: 3, odd: [0, 2], differing: all.slice(1) });
  });

  test('the first one too, which all others are compared with', () => {
    expect(whoDiffers([asked('bb', '=='), asked('ab', '!=')])).toMatchObject({ by: 'goldens', odd: [1, 0] });
    expect(whoDiffers([asked('abb'), asked('bbb')])).toMatchObject({ by: 'majority', judged: 2, odd: [1, 0, 0] });
  });

  test('every one that does, and none for what the policy forgives', () => {
    expect(whoDiffers([asked('abac', '=!=!'), asked('abaa', '=!==')])).toMatchObject({ odd: [0, 2, 0, 1] });
    expect(whoDiffers([asked('abc', '==!', ' ~ ')])).toMatchObject({ by: 'goldens', odd: [0, 0, 1] });
    expect(whoDiffers([asked('aaabc', '', '   ~ ')])).toMatchObject({ by: 'majority', odd: [0, 0, 0, 0, 1] });
  });

  test('goldens of which all are wrong, or that are all met, tell nothing', () => {
    expect(whoDiffers([asked('aab', '!!!')])).toMatchObject({ by: 'majority', odd: [0, 0, 1] });
    expect(whoDiffers([asked('ab', '!!')])).toMatchObject({ by: 'nobody' });
  });

  test('of two without goldens, nobody can tell; nor of three that all differ', () => {
    expect(whoDiffers([asked('ab')])).toMatchObject({ by: 'nobody', odd: [] });
    expect(whoDiffers([asked('abc')])).toMatchObject({ by: 'nobody', odd: [] });
  });
});

test('replicas that say other things of themselves are named with what they say', () => {
  const at = (address: string, triton: string | undefined) => ({ address, identity: triton === undefined ? {} : { triton } });
  assertSameIdentity([at('a', '2.51.0'), at('b', '2.51.0')]);
  expect(() => assertSameIdentity([at('a', '2.51.0'), at('b', '2.47.0')])).toThrow('the replicas are not the same server: triton');
  expect(() => assertSameIdentity([at('a', '2.51.0'), at('b', undefined)])).toThrow(/triton/);
});
