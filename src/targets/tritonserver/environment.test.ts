import { expect, test } from 'vitest';
import { envNames, parseEnv } from './environment.ts';

test('the environment is read as docker run reads it', () => {
  expect(parseEnv(['A=b=c', 'HF_TOKEN', 'E='], { HF_TOKEN: 'x' })).toEqual(['A=b=c', 'HF_TOKEN=x', 'E=']);
  expect(envNames(['A=b=c', 'HF_TOKEN'])).toEqual(['A', 'HF_TOKEN']);
  expect(() => parseEnv(['HF_TOKEN'], {})).toThrow('[env-missing] --env HF_TOKEN takes its value from here');
});
