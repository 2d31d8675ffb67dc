import { expect, test } from 'vitest';
import { LockstepError } from '#core/errors/index.ts';
import { DEFAULT_PROFILE, misfit, profileIncludes, profileOf, RELEASES } from './index.ts';

const refused = (name: string): string => {
  try {
    profileOf(name);
  } catch (thrown) {
    return LockstepError.from(thrown).message;
  }
  return 'accepted';
};

test('default and ideal are the default releases, with and without their gaps', () => {
  expect(profileOf('default')).toEqual(DEFAULT_PROFILE);
  expect(profileOf('ideal')).toMatchObject({
    id: 'ideal',
    core: { id: '2.51', ensembleCancelReachesRunningStep: { value: true } },
    openai: { doubleBos: { value: false } },
  });
});

test('an axis takes any of its releases, in any order, on top of default or ideal', () => {
  for (const axis of ['core', 'models', 'openai'] as const) {
    for (const { id } of RELEASES[axis]) expect(profileOf(`${axis}=${id}`)[axis].id).toBe(id);
  }
  expect(profileOf('openai=r25.12, core=2.51').id).toBe('core=2.51,openai=r25.12');
  expect(profileOf('ideal,models=1.x')).toMatchObject({
    id: 'ideal,models=1.x',
    models: { streamedTextHoldsBackPartialCharacters: { value: true } },
  });
});

test('the sampler of a release decides whether EOS is among ids and counts', () => {
  const of = (id: string) => {
    const { sampler, eosInIds, usageCountsEos, finalResponseEmpty } = profileOf(`models=${id}`).models.torch;
    return [sampler.value, eosInIds.value, usageCountsEos.value, finalResponseEmpty.value];
  };
  expect(of('1.0')).toEqual(['TorchSampler', true, true, false]);
  expect(of('1.1')).toEqual(['TRTLLMSampler', false, false, true]);
  expect(of('1.2')).toEqual(['TorchSampler', true, true, false]);
  expect(of('1.x')).toEqual(of('1.1'));
});

test('the ideal trtllm-serve counts what it shows: no EOS, and nothing past a stop string', () => {
  const { models, openai } = profileOf('ideal,models=1.2,openai=trtllm-serve-1.3rc');
  expect([models.torch.eosInIds.value, models.torch.usageCountsEos.value]).toEqual([false, false]);
  expect(openai.trtllmServe?.usageCountsPastStop.value).toBe(false);
  expect(profileOf('openai=trtllm-serve-1.1').openai.trtllmServe?.usageCountsPastStop.value).toBe(true);
});

test('what no release has is refused with what there is', () => {
  expect(refused('openai=r1')).toMatch(/the axis openai has no release r1/);
  expect(refused('gpu=1')).toMatch(/gpu=1 is no axis=release/);
  expect(refused('')).toMatch(/an empty part is no axis=release/);
  expect(refused('core=2.51,core=2.51')).toMatch(/is no axis=release/);
  expect(refused('default,ideal')).toMatch(/ideal is no axis=release/);
});

test('a profile includes what it was made of', () => {
  expect(profileIncludes('ideal,openai=r25.12', 'ideal')).toBe(true);
  expect(profileIncludes('openai=r25.12', 'ideal')).toBe(false);
  expect(profileIncludes('ideal', 'default')).toBe(true);
});

test('a front end whose inputs the models do not have is no pair with them', () => {
  const inputs = 'seed, return_num_input_tokens, return_num_output_tokens';
  expect(misfit(profileOf('models=0.19'))).toBe(
    `the front end r25.12 sends inputs that models 0.19 do not have (${inputs}); pair it with openai=r25.05`,
  );
  expect(misfit(profileOf('openai=r25.05'))).toBe(
    'the front end r25.05 sends inputs that models 1.x do not have (random_seed); pair it with openai=r25.12',
  );
  for (const fits of ['default', 'models=0.19,openai=r25.05', 'models=0.19,openai=trtllm-serve-1.1'])
    expect(misfit(profileOf(fits)), fits).toBeUndefined();
});
