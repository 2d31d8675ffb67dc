import { expect, test } from 'vitest';
import { everyFrontEnd, fittingProfile, FRONT_ENDS } from './openai-releases.ts';

everyFrontEnd();

test('releases that send random_seed are paired with models that have it', () => {
  expect(FRONT_ENDS.map(fittingProfile).slice(0, 3)).toEqual([
    'models=0.19,openai=r24.11',
    'models=0.19,openai=r25.05',
    'models=1.x,openai=r25.06',
  ]);
});
