import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY, PACKAGE_ROOT, SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { helpOverview } from './help.ts';
import { closedPort, lockstep, lockstepHere, MAIN } from './testing.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-cli-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe.concurrent('the command line', { timeout: 30_000 }, () => {
  test('help of the program names every command and the exit codes', async () => {
    const { code, out } = await lockstepHere(cwd, ['help']);
    expect(code).toBe(0);
    for (const word of ['check', 'serve', 'goldens', 'repository', 'audit', 'doctor', 'help', 'version', '130 interrupted'])
      expect(out).toContain(word);
  });

  test('help of help and of version is the overview, and it keeps to the width', async () => {
    const overview = await lockstepHere(cwd, ['help']);
    expect(await lockstepHere(cwd, ['help', 'version'])).toEqual(overview);
    expect(await lockstepHere(cwd, ['help', 'help'])).toEqual(overview);
    expect(
      Math.max(
        ...helpOverview(80)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
  });

  test.each([
    'check',
    'serve',
    'start',
    'ps',
    'stop',
    'goldens',
    'repository',
    'audit',
    'identify',
    'init',
    'record',
    'replay',
    'upgrade',
    'bisect',
    'doctor',
  ])('help of %s is the same by both ways', async (command) => {
    const [one, other] = await Promise.all([lockstepHere(cwd, ['help', command]), lockstepHere(cwd, [command, '--help'])]);
    expect(one.code).toBe(0);
    expect(one.out).toBe(other.out);
    expect(one.out).toContain(`usage: lockstep ${command}`);
  });

  test.each([
    [['chekc'], '[command-unknown] there is no command chekc\n  next: Did you mean check?\n'],
    [
      ['zz'],
      '[command-unknown] there is no command zz\n  next: Commands are: check, serve, start, ps, stop, goldens, repository, audit, identify, init, record, shrink, bundle, upgrade, bisect, replay, doctor, help, version.\n',
    ],
    [['check', '--sed', '3'], '[flag-unknown] check has no flag --sed\n  next: Did you mean --seed?\n'],
    [
      ['serve', '--grpc-port', 'x'],
      '[value-invalid] --grpc-port must be a port from 0 to 65535; got “x”\n  next: Correct it or leave it out (default: 8001).\n',
    ],
    [
      ['audit'],
      '[setting-missing] audit needs a model repository, or --http HOST:PORT of a running server\n  next: Write: lockstep audit ./models, or lockstep audit --http HOST:8000 --grpc HOST:8001.\n',
    ],
    [['repository', 'crate'], '[action-unknown] repository cannot crate\n  next: Did you mean create?\n'],
    [
      ['repository', 'create', '--output', 'x'],
      '[setting-missing] repository create needs --engine-dir DIR\n  next: Write: lockstep repository create --engine-dir DIR --tokenizer DIR --output DIR.\n',
    ],
    [['goldens', 'list', '--goldens', MAIN], expect.stringMatching(/^\[goldens-not-folder\] .* is not a folder\n {2}next: /)],
    [['goldens', 'verify', 'nosuch'], expect.stringMatching(/^\[golden-missing\] no golden matches nosuch\n {2}next: A filter is /)],
    [['doctor', 'extra'], '[action-unknown] doctor takes no extra\n  next: It takes flags alone: `lockstep doctor --help` lists them.\n'],
    [['serve', 'now'], '[action-unknown] serve takes no now\n  next: It takes flags alone: `lockstep serve --help` lists them.\n'],
    [['goldens', 'verfy'], '[action-unknown] goldens cannot verfy\n  next: Did you mean verify?\n'],
    [
      ['check', '--target', 'external', '--grpc', 'h:1', '--http', 'h:2'],
      '[tokenizer-missing] target external needs the tokenizer of the checkpoint that it serves\n  next: Add --tokenizer DIR, a folder with tokenizer.json and tokenizer_config.json.\n',
    ],
  ])('%j ends with code 2 and says what to do', async (args, text) => {
    expect(await lockstepHere(cwd, args)).toEqual({ code: 2, out: '', error: text });
  });

  test('a repository is made and audited: 0 where nothing but notes are found, 1 where a knob is turned', async () => {
    const made = join(cwd, 'made by hand');
    const from = ['--engine-dir', TINY_CHECKPOINT, '--tokenizer', TINY_CHECKPOINT, '--output', made];
    expect(await lockstepHere(cwd, ['repository', 'create', '--backend', 'cpu', ...from])).toEqual({
      code: 0,
      out: 'made by hand: preprocessing, tensorrt_llm, postprocessing, ensemble, tensorrt_llm_bls (TensorRT-LLM 1.x, form inflight, back end cpu)\n',
      error: '',
    });
    expect((await lockstepHere(cwd, ['audit', 'made by hand'])).code).toBe(0);
    const config = join(made, 'postprocessing', 'config.pbtxt');
    writeFileSync(config, readFileSync(config, 'utf8').replace('count: 1', 'count: 2'));
    const { code, out } = await lockstepHere(cwd, ['audit', 'made by hand', '--sarif', 'out.sarif', '--json', 'out.json']);
    expect([code, JSON.parse(readFileSync(join(cwd, 'out.sarif'), 'utf8')).version]).toEqual([1, '2.1.0']);
    expect(out).toMatch(
      /^error {3}postprocessing instance_group of every model: count 2 {2}made by hand\/postprocessing\/config\.pbtxt:\d+\n/,
    );
  });

  test('a Node that is too old starts the packaged one, and passes on arguments and exit code', async () => {
    // Says that it is Node 20 and is otherwise the Node that runs this.
    const old = join(cwd, 'old-node.mjs');
    writeFileSync(
      old,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });\nprocess.argv.splice(1, 1);\nawait import(process.argv[1]);\n`,
    );
    const node = join(cwd, 'node');
    writeFileSync(node, `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(old)} "$@"\n`);
    chmodSync(node, 0o755);
    const [version, wrong] = await Promise.all([lockstep(cwd, ['version'], { node }), lockstep(cwd, ['chekc'], { node })]);
    expect(version.out).toMatch(/^lockstep \d+\.\d+\.\d+ \(Node v24\./);
    expect(wrong).toMatchObject({ code: 2, error: expect.stringMatching(/^\[command-unknown\]/) });
  });
});

describe.concurrent('doctor', { timeout: 30_000 }, () => {
  test('a complete checkout is ready', async () => {
    const { code, out } = await lockstepHere(cwd, ['doctor']);
    expect(out).toMatch(/^ok +node +v/m);
    expect(out).toMatch(/^ok +checkpoint +vocabulary 512, bos 0, eos 1, pad 2; the tokenizer agrees$/m);
    expect(code).toBe(0);
  });

  test('what is wrong is named with a next step, and the code is 2', async () => {
    const port = await closedPort();
    const { code, out } = await lockstepHere(
      cwd,
      ['doctor', '--target', 'external', '--grpc', `127.0.0.1:${port}`, '--http', `127.0.0.1:${port}`, '--tokenizer', 'nowhere'],
      { LOCKSTEP_SEDE: '1', LOCKSTEP_FAULTS: 'all' },
    );
    expect(code).toBe(2);
    expect(out).toMatch(/^fail +tokenizer/m);
    expect(out).toMatch(/^fail +target +\[target-unreachable\]/m);
    expect(out).not.toContain('LOCKSTEP_FAULTS');
    expect(out).toMatch(/^warn +environment +LOCKSTEP_SEDE means nothing\n +next: Did you mean LOCKSTEP_SEED\?$/m);
  });
});

describe.concurrent('doctor of a repository', { timeout: 30_000 }, () => {
  test('one that fits is told with its models, another tokenizer beside it is a failure', async () => {
    const asked = (...more: readonly string[]) =>
      lockstepHere(cwd, ['doctor', '--target', 'process', '--repository', MODEL_REPOSITORY, ...more]);
    const [fits, other] = await Promise.all([asked('--tokenizer', TINY_CHECKPOINT), asked('--tokenizer', SPM_CHECKPOINT)]);
    expect(fits.out).toMatch(/^ok +repository +.*docker\/models: ensemble .* tensorrt_llm /m);
    expect(other.out).toMatch(/^fail +repository +.*preprocessing\/config\.pbtxt:\d+: tokenizer_dir is another tokenizer/m);
    expect(other.code).toBe(2);
  });
});

describe.concurrent('check', { timeout: 60_000 }, () => {
  test('a fault that does not exist or would change nothing is no failed claim', async () => {
    const [fault, hidden] = await Promise.all([
      lockstepHere(cwd, ['check', '--fault', 'double-bos-templated']),
      lockstepHere(cwd, ['check', '--fault', 'double-bos-templated-prompt']),
    ]);
    expect(fault).toMatchObject({ code: 2, error: expect.stringContaining('[fault-unknown]') });
    expect(hidden).toMatchObject({ code: 2, error: expect.stringMatching(/\[fault-hidden\][^]*next: Add --profile ideal/) });
  });
});

describe.concurrent('serve', { timeout: 30_000 }, () => {
  // gRPC listens by itself, the other three by one function.
  test.each(['grpc', 'http'])('a taken %s port is named, with what to do', async (front) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const ports = ['grpc', 'http', 'metrics', 'openai'].flatMap((name) => [`--${name}-port`, name === front ? `${port}` : '0']);
    const { code, error } = await lockstepHere(cwd, ['serve', ...ports]);
    taken.close();
    expect(code).toBe(2);
    expect(error).toMatch(new RegExp(`^\\[listen-failed\\] cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`));
    expect(error).toMatch(/\n +next: Choose another port, or 0 for any free one\.\n$/);
    expect(error).not.toMatch(/^ +at /m);
  });
});

describe.concurrent('interruption', { timeout: 30_000 }, () => {
  test('SIGINT while an external target is waited for ends with code 130', async () => {
    const port = await closedPort();
    const child = spawn(
      process.execPath,
      [MAIN, 'doctor', '--target', 'external', '--grpc', `127.0.0.1:${port}`, '--http', `127.0.0.1:${port}`],
      { cwd, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      // Once: a second one would ask for the hard way out.
      if (out.includes('cache') && !child.killed) child.kill('SIGINT');
    });
    expect(await once(child, 'close')).toEqual([130, null]);
  });
});

test('an error shows no character of its input that would change the terminal', async () => {
  const { code, error } = await lockstepHere(cwd, ['check', '--fault', '\u001b[31mred\u202e']);
  expect(code).toBe(2);
  expect(error).toContain('there is no fault \\u{1b}[31mred\\u{202e}');
});

test('init says what is wrong with the folder that was named', async () => {
  writeFileSync(join(cwd, 'file'), '');
  const { code, error } = await lockstepHere(cwd, ['init', '--tokenizer', 'file']);
  expect(code).toBe(2);
  expect(error).toMatch(/^\[folder-missing\] --tokenizer must be a folder, and .*file is none\n {2}next: /);
});

describe('identify', { timeout: 30_000 }, () => {
  test('says what the target is and loaded, writes it, and compares what was written', async () => {
    const { code, out } = await lockstepHere(cwd, ['identify', '--json', 'one.json']);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}triton +2\.51\.0$/m);
    expect(out).toMatch(/^ {2}config of tensorrt_llm +[0-9a-f]{12}$/m);
    const one = JSON.parse(readFileSync(join(cwd, 'one.json'), 'utf8')) as { readonly identity: Record<string, string> };
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ header: { identity: { ...one.identity, triton: '2.50.0', gpu: 'unknown' } } }));
    expect(await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'one.json'])).toMatchObject({ code: 0 });
    const differing = await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'other.json']);
    expect(differing.code).toBe(1);
    expect(differing.out).toMatch(/^≠ triton {2}2\.51\.0 {2}→ {2}2\.50\.0\n\? not told by both: gpu\n1 part differs/);
    for (const [text, words] of [
      ['geheim-7719', 'is no JSON'],
      ['null', 'holds no identity'],
      ['["a"]', 'holds no identity'],
      ['{"identity":"abc"}', 'holds no identity'],
      ['{"identity":{"gpu":1}}', 'holds no identity'],
      ['{"header":null,"recordings":{"a":null}}', 'holds no identity'],
      ['{"recordings":{}}', 'holds no identity'],
    ] as const) {
      writeFileSync(join(cwd, 'weird.json'), text);
      expect(await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'weird.json'])).toEqual({
        code: 2,
        out: '',
        error: expect.stringMatching(new RegExp(`^\\[identity-unreadable\\] ${join(cwd, 'weird.json')} ${words}\\n {2}next: Name a file`)),
      });
    }
    const goldens = join(PACKAGE_ROOT, 'goldens');
    expect((await lockstepHere(cwd, ['identify', '--diff', goldens, 'one.json'])).error).toMatch(/next: Name one of those in it: tiny-/);
    expect((await lockstepHere(cwd, ['identify', '--diff', join(goldens, 'tiny-1ac0dd1d-b7851867'), 'one.json'])).code).toBeLessThan(2);
    const unread = await lockstepHere(cwd, ['identify', '--diff', 'one.json', 'nowhere.json']);
    expect(unread).toMatchObject({ code: 2, error: expect.stringMatching(/^\[identity-unreadable\] cannot read .*nowhere\.json/) });
  });
});
