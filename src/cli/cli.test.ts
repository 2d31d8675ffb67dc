import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
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
