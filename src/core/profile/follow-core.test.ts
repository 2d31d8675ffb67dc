import { expect, test } from 'vitest';
import { compareReleases, followCore, followFrontEnd, instanceText, profileOf, RELEASES } from './index.ts';

test('the core axis goes to the release that a server reports', () => {
  expect(followCore('default', '2.47.0')).toEqual({ profile: 'core=2.47', note: undefined });
  expect(followCore('ideal,openai=r25.06', '2.36.0').profile).toBe('ideal,core=2.36,openai=r25.06');
  expect(followCore('default', '2.51.0')).toEqual({ profile: 'default', note: undefined });
  expect(followCore('default', undefined).profile).toBe('default');
  expect(followCore('default', 'unknown').profile).toBe('default');
});

test('a core that was named stays, whatever the server says', () => {
  expect(followCore('models=1.0,core=2.42', '2.47.0').profile).toBe('models=1.0,core=2.42');
});

test('a release that is not known is held to the one before it, and it is said', () => {
  expect(followCore('default', '2.64.0')).toEqual({ profile: 'default', note: 'core 2.64.0 is not known, held to 2.51' });
  expect(followCore('default', '2.72.0')).toEqual({ profile: 'core=2.71', note: 'core 2.72.0 is not known, held to 2.71' });
  expect(followCore('default', '2.40.0')).toEqual({ profile: 'core=2.39', note: 'core 2.40.0 is not known, held to 2.39' });
  expect(followCore('default', '2.5.0').profile).toBe('core=2.36');
});

test('a newer core that runs behind older front ends is held to both, and its own are not taken for seen', () => {
  const hybrid = followCore('default', '2.71.0 core with the front ends of 2.51');
  expect(hybrid).toEqual({ profile: 'core=2.71+2.51', note: undefined });
  const real = followCore('ideal', '2.65.0');
  expect(real).toEqual({ profile: 'ideal,core=2.65', note: 'the front ends of 2.65.0 were not seen, held to those of 2.51' });
  const readable = (profile: string) => profileOf(profile).core.ensembleConfigOverGrpc.value;
  expect([readable(hybrid.profile), readable(real.profile), readable('core=2.51')]).toEqual([false, true, true]);
  expect(profileOf(hybrid.profile).core.serverVersion.value).toBe('2.71.0');
});

test('releases are in order, by number', () => {
  const ids = RELEASES.core.map(({ id }) => id);
  expect(ids.toSorted(compareReleases)).toEqual(ids);
  expect(compareReleases('2.9', '2.36')).toBeLessThan(0);
  expect(compareReleases('2.51.0', '2.51')).toBe(0);
});

test('instances in texts are called as each release was seen to', () => {
  const called = (core: string) => instanceText(profileOf(`core=${core}`).core, 'preprocessing');
  expect([called('2.36'), called('2.39'), called('2.46'), called('2.47')]).toEqual([
    "model instance 'preprocessing_0'",
    "model instance 'preprocessing_0_0'",
    "model instance 'preprocessing_0_0'",
    "model 'preprocessing_0_0'",
  ]);
});

test('the front end is the trtllm-serve that an endpoint says it is, unless one was named', () => {
  expect(followFrontEnd('default', 'unknown')).toEqual({ profile: 'default', note: undefined });
  expect(followFrontEnd('default', '1.1.0')).toEqual({ profile: 'openai=trtllm-serve-1.1', note: undefined });
  expect(followFrontEnd('ideal', '1.3.0rc2')).toEqual({ profile: 'ideal,openai=trtllm-serve-1.3rc', note: undefined });
  expect(followFrontEnd('openai=r25.12', '1.1.0')).toEqual({ profile: 'openai=r25.12', note: undefined });
  expect(followFrontEnd('default', '1.2.0')).toEqual({
    profile: 'openai=trtllm-serve-1.1',
    note: 'trtllm-serve 1.2.0 is not known, held to 1.1',
  });
});
