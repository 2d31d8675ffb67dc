import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type RunConfig, defaultSettings, toRunConfig } from '#core/config/index.ts';
import { coldId, coldOf } from './cold.ts';
import { quoted, replayCommand } from './replay-command.ts';
import { settled } from './settled.ts';

const DEFAULTS: RunConfig = toRunConfig(defaultSettings(), process.cwd());

test('the replay of a plain run names the seed only', () => {
  expect(replayCommand(DEFAULTS)).toBe('npx lockstep check --seed 1');
});

test('the replay of another run names all that made it another', () => {
  const config: RunConfig = {
    ...DEFAULTS,
    target: 'external',
    grpc: '10.0.0.1:8001',
    http: '10.0.0.1:8000',
    checkpoint: undefined,
    tokenizer: '/models/my tokenizer',
    goldens: resolve('my goldens'),
    policy: 'exact',
    profile: 'ideal',
    dangerous: true,
    seed: 7,
  };
  expect(replayCommand(config)).toBe(
    `npx lockstep check --target external --grpc 10.0.0.1:8001 --http 10.0.0.1:8000 --tokenizer '/models/my tokenizer' --goldens '${resolve('my goldens')}' --policy exact --profile ideal --dangerous --seed 7`,
  );
});

test('the replay names another checkpoint, whose tokenizer goes without saying', () => {
  const config = toRunConfig({ ...defaultSettings(), checkpoint: 'docker/checkpoint/tiny-spm' }, process.cwd());
  expect(replayCommand(config)).toBe(`npx lockstep check --checkpoint ${resolve('docker/checkpoint/tiny-spm')} --seed 1`);
});

test('the replay names the tritonserver that was started', () => {
  expect(replayCommand({ ...DEFAULTS, target: 'process', triton: '2.47' })).toBe(
    'npx lockstep check --target process --triton 2.47 --seed 1',
  );
});

test('the replay names another repository', () => {
  const config = toRunConfig({ ...defaultSettings(), target: 'process', repository: 'made' }, process.cwd());
  expect(replayCommand(config)).toBe(`npx lockstep check --target process --repository ${resolve('made')} --seed 1`);
});

test('the policy that the target has by itself is not named', () => {
  const command = replayCommand({ ...DEFAULTS, target: 'external', checkpoint: undefined, policy: 'margins' });
  expect(command).not.toContain('--policy');
  expect(command).toContain('--tokenizer');
});

test.each(['plain', "it's", 'a b', '$HOME', 'x;y', ''])('a shell reads %j as one word', (word) => {
  expect(spawnSync('sh', ['-c', `printf %s ${quoted(word)}`], { encoding: 'utf8' }).stdout).toBe(word);
});

test('a cold prompt is known by its id', () => {
  expect(coldOf(coldId({ nonce: 'mf2k9x', i: 12 }))).toEqual({ nonce: 'mf2k9x', i: 12 });
  expect(coldOf('colours-01')).toBeUndefined();
});

test('settled waits for all before it gives the first rejection', async () => {
  let ended = false;
  const slow = new Promise<void>((done) => setTimeout(done, 20)).then(() => (ended = true));
  await expect(settled([Promise.reject(new Error('first')), slow])).rejects.toThrow('first');
  expect(ended).toBe(true);
  expect(await settled([Promise.resolve(1), 'two'] as const)).toEqual([1, 'two']);
});
