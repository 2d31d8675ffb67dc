import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommandName } from './field.ts';
import { flagName } from './field.ts';
import { fieldsOf, parseFlags } from './flags.ts';
import { helpForFields } from './help.ts';
import { unknownVariables } from './environment.ts';
import { defaultSettings, resolveSettings } from './resolve.ts';
import { runConfigFromEnvironment, toRunConfig, toRunVariable } from './run-config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lockstep-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function settingsOf(args: readonly string[], env: Record<string, string> = {}, command: CommandName = 'check') {
  return resolveSettings({ command, flags: parseFlags(command, args).layer, env, cwd });
}
const failing = (args: readonly string[], env: Record<string, string> = {}, command: CommandName = 'check') =>
  settingsOf(args, env, command).then(
    () => expect.unreachable('these settings were accepted'),
    (error: { code: string; message: string; hint: string; context: object }) => error,
  );
const writeConfig = (text: string) => writeFileSync(join(cwd, 'lockstep.config.mjs'), text);

describe('precedence', () => {
  test('a flag wins over the environment, the environment over the file, the file over the default', async () => {
    expect((await settingsOf([])).seed).toBe(1);
    writeConfig('export default { seed: 2 }');
    expect((await settingsOf([])).seed).toBe(2);
    expect((await settingsOf([], { LOCKSTEP_SEED: '3' })).seed).toBe(3);
    expect((await settingsOf(['--seed', '4'], { LOCKSTEP_SEED: '3' })).seed).toBe(4);
  });

  test('an empty variable counts as unset', async () => {
    expect((await settingsOf([], { LOCKSTEP_SEED: '' })).seed).toBe(1);
  });

  test('lists repeat as flags and are separated by commas in the environment', async () => {
    expect((await settingsOf(['--fault', 'a', '--fault=b'])).fault).toEqual(['a', 'b']);
    expect((await settingsOf([], { LOCKSTEP_FAULT: 'a, b' })).fault).toEqual(['a', 'b']);
  });

  test('a switch can be taken back with --no-', async () => {
    expect((await settingsOf(['--strict-identity'])).strictIdentity).toBe(true);
    expect((await settingsOf(['--no-strict-identity'], { LOCKSTEP_STRICT_IDENTITY: '1' })).strictIdentity).toBe(false);
  });

  test('a config file may name a running server while a flag asks for the embedded one', async () => {
    writeConfig("export default { target: 'external', grpc: 'gpu1:8001', http: 'gpu1:8000' }");
    expect(await settingsOf(['--target', 'embedded'])).toMatchObject({ target: 'embedded', grpc: undefined, http: undefined });
    expect(await settingsOf([])).toMatchObject({ target: 'external', grpc: 'gpu1:8001' });
  });

  test('words that are no flags are filters', () => {
    expect(parseFlags('check', ['agreement', '--seed', '3', 'streaming']).positionals).toEqual(['agreement', 'streaming']);
  });
});

describe('errors say what was expected and what to do', () => {
  test.each([
    [['--tokeniser', 'x'], 'flag-unknown', 'Did you mean --tokenizer?'],
    [['--grpc-port', '1'], 'flag-unknown', 'It belongs to: serve, start, replay.'],
    [['--seed'], 'flag-value-missing', 'Write --seed N.'],
    [['--seed', '--json', 'x'], 'flag-value-missing', 'Write --seed N.'],
    [['--strict-identity=1'], 'flag-value-unexpected', 'Write --strict-identity alone'],
    [['--target', 'dcoker'], 'value-invalid', 'default: embedded'],
    [['--seed', '1.5'], 'value-invalid', 'default: 1'],
    [['--seed', '-1'], 'value-invalid', 'default: 1'],
    [['--target', 'external', '--http', 'h:1'], 'flags-contradict', 'Add --grpc HOST:PORT'],
    [['--grpc', 'h:1'], 'flags-contradict', 'Add --target external'],
    [['--target', 'process', '--fault', 'x'], 'flags-contradict', '--target embedded'],
    [['--image', 'x@sha256:0'], 'flags-contradict', '--target docker'],
    [['--target', 'docker', '--image', 'x', '--triton', '2.47'], 'flags-contradict', 'Leave one of them out'],
    [['--partition', 'x'], 'flags-contradict', '--target slurm'],
    [['--target', 'slurm', '--gpus', 'all'], 'flags-contradict', '--target docker'],
    [['--target', 'slurm', '--time-limit', 'long'], 'value-invalid', "default: the partition's"],
    [['--target', 'slurm', '--slurm-arg', 'mem=1G'], 'value-invalid', 'Correct it'],
    [['--target', 'docker', '--engine-dir', 'e'], 'flags-contradict', 'lockstep repository create'],
    [['--target', 'docker', '--gpus', '0;1'], 'value-invalid', 'Correct it'],
    [['--target', 'docker', '--network', 'none'], 'value-invalid', 'Correct it'],
    [['--target', 'docker', '--shm-size', 'much'], 'value-invalid', 'default: 1g'],
    [['--world-size', '2'], 'flags-contradict', 'Add --target process'],
    [['--target', 'process', '--world-size', '2'], 'flags-contradict', 'Add --repository DIR, and --triton'],
    [['--triton', '2.47'], 'flags-contradict', 'Add --target process'],
    [['--target', 'external', '--grpc', 'h:1', '--http', 'h:2', '--checkpoint', 'x'], 'flags-contradict', '--tokenizer DIR'],
    [['--repository', 'x'], 'flags-contradict', 'Add --target process'],
    [['--target', 'process', '--repository', 'x', '--checkpoint', 'y'], 'flags-contradict', 'Leave the checkpoint out'],
    [['--target', 'external', '--grpc', 'http://h:1', '--http', 'h:2'], 'value-invalid', 'leave it out'],
    [['--target', 'external', '--grpc', 'h:70000', '--http', 'h:2'], 'value-invalid', 'leave it out'],
    [['--target', 'external', '--grpc', 'h:1', '--http', 'h:2', '--openai', 'http://h:9/v1'], 'value-invalid', 'leave it out'],
    [['--target', 'external', '--grpc', 'h:1', '--http', 'h:2', '--tls-ca', 'x'], 'flags-contradict', 'Write grpcs://HOST:PORT'],
  ])('%j is %s', async (args, code, hint) => {
    const error = await failing(args);
    expect(error.code).toBe(code);
    expect(error.hint).toContain(hint);
  });

  test('the source of a wrong value is named as its reader knows it', async () => {
    expect((await failing([], { LOCKSTEP_SEED: 'x' })).message).toBe(
      '[value-invalid] LOCKSTEP_SEED must be a whole number from 0 to 4294967295; got “x”',
    );
    writeConfig("export default { policy: 'lax' }");
    expect((await failing([])).message).toBe('[value-invalid] policy in lockstep.config.mjs must be exact or margins; got “lax”');
  });

  test('a config file with an unknown field names path, field and the field that was meant', async () => {
    writeConfig('export default { sed: 3 }');
    const error = await failing([]);
    expect(error).toMatchObject({
      code: 'config-field-unknown',
      hint: 'Did you mean seed?',
      context: { file: join(cwd, 'lockstep.config.mjs'), field: 'sed' },
    });
  });

  test.each([
    ['export default 3', 'must export its settings as default'],
    ['export default Promise.resolve({ seed: 2 })', 'must export its settings as default'],
    ['export default {', 'cannot be loaded'],
    ["throw new Error('boom')", 'boom'],
  ])('a config file that reads %j cannot be used', async (text, words) => {
    writeConfig(text);
    const error = await failing([]);
    expect(error.code).toBe('config-file-unreadable');
    expect(error.message).toContain(words);
  });

  test('a misspelt variable is found', () => {
    expect(unknownVariables({ LOCKSTEP_SEDE: '1', LOCKSTEP_SEED: '1', LOCKSTEP_RUN: '{}', PATH: '' })).toEqual([
      { name: 'LOCKSTEP_SEDE', meant: 'LOCKSTEP_SEED' },
    ]);
  });
});

describe('the configuration of a run', () => {
  test('tritonserver is a release or a path, which becomes absolute', async () => {
    const of = (triton: string) => toRunConfig({ ...defaultSettings(), target: 'process', triton }, '/somewhere').triton;
    expect([of('2.47'), of('2.47.0'), of('./2.47'), of('bin/tritonserver')]).toEqual([
      '2.47',
      '2.47.0',
      '/somewhere/2.47',
      '/somewhere/bin/tritonserver',
    ]);
  });

  test('an external target needs a tokenizer', async () => {
    const settings = await settingsOf(['--target', 'external', '--grpc', 'h:1', '--http', 'h:2']);
    expect(() => toRunConfig(settings, cwd)).toThrow('[tokenizer-missing]');
  });

  test('margins excuse differences on external targets only, unless it is said otherwise', async () => {
    const external = ['--target', 'external', '--grpc', 'h:1', '--http', 'h:2', '--tokenizer', 't'];
    expect(toRunConfig(await settingsOf([]), cwd).policy).toBe('exact');
    expect(toRunConfig(await settingsOf(external), cwd).policy).toBe('margins');
    expect(toRunConfig(await settingsOf([...external, '--policy', 'exact']), cwd).policy).toBe('exact');
  });

  test('it survives the way through LOCKSTEP_RUN', async () => {
    const config = toRunConfig(await settingsOf(['--json', 'out.json', '--fault', 'x']), cwd);
    expect(config.json).toBe(join(cwd, 'out.json'));
    expect(await runConfigFromEnvironment({ LOCKSTEP_RUN: toRunVariable(config) }, '/')).toEqual(JSON.parse(JSON.stringify(config)));
  });

  test('without LOCKSTEP_RUN it comes from environment and file', async () => {
    expect(await runConfigFromEnvironment({ LOCKSTEP_PROFILE: 'ideal' }, cwd)).toMatchObject({
      target: 'embedded',
      profile: 'ideal',
      seed: 1,
    });
  });
});

test('help shows flag, value, choices, default and variable, and keeps to the width', () => {
  const help = helpForFields('check', 80);
  expect(help).toContain('--target KIND');
  expect(help.replaceAll(/\s+/g, ' ')).toContain(
    '[embedded | process | docker | slurm | external | openai; default: embedded; LOCKSTEP_TARGET]',
  );
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(help).not.toContain('--grpc-port');
});

test('help puts the flags of one kind of target below a heading, and names each flag once', () => {
  const help = helpForFields('check', 80);
  const sections = help.split('\n\n').map((section) => [...section.matchAll(/^(?=\S)(.*)$|^ {2}--(\S+)/gm)].map((m) => m[1] ?? m[2]));
  expect(sections.map(([heading, first]) => [heading, first])).toEqual([
    ['flags', 'target'],
    ['a server that already runs (target external, openai)', 'grpc'],
    ['a server that this run starts (target process, docker, slurm)', 'repository'],
    ['target process', 'lock-gpu-clocks'],
    ['target docker', 'allow-floating-tag'],
    ['target slurm', 'partition'],
  ]);
  const flags = sections.flatMap(([, ...rest]) => rest);
  expect(flags).toHaveLength(fieldsOf('check').length);
  expect(new Set(flags)).toEqual(new Set(fieldsOf('check').map(flagName)));
  expect(helpForFields('serve', 80).match(/^\S.*$/gm)).toEqual(['flags']);
});
