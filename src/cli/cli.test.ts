import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';

const MAIN = join(import.meta.dirname, 'main.js');
const cwd = mkdtempSync(join(tmpdir(), 'lockstep-cli-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** The command as a user starts it, in an empty folder. */
async function lockstep(args: readonly string[], env: Readonly<Record<string, string>> = {}, node = process.execPath): Promise<Ended> {
  const { NO_COLOR: _no, FORCE_COLOR: _force, LOCKSTEP_RUN: _run, ...inherited } = process.env;
  return new Promise((resolve) => {
    const child = execFile(node, [MAIN, ...args], { cwd, env: { ...inherited, ...env } }, (_, out, error) =>
      resolve({ code: child.exitCode, out, error }),
    );
  });
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.concurrent('the command line', { timeout: 30_000 }, () => {
  test('help of the program names every command and the exit codes', async () => {
    const { code, out } = await lockstep(['help']);
    expect(code).toBe(0);
    for (const word of ['check', 'serve', 'goldens', 'doctor', 'help', 'version', '130 interrupted']) expect(out).toContain(word);
  });

  test.each(['check', 'serve', 'goldens', 'doctor'])('help of %s is the same by both ways', async (command) => {
    const [one, other] = await Promise.all([lockstep(['help', command]), lockstep([command, '--help'])]);
    expect(one.code).toBe(0);
    expect(one.out).toBe(other.out);
    expect(one.out).toContain(`usage: lockstep ${command}`);
  });

  test.each([
    [['chekc'], '[command-unknown] there is no command chekc\n  next: Did you mean check?\n'],
    [['check', '--sed', '3'], '[flag-unknown] check has no flag --sed\n  next: Did you mean --seed?\n'],
    [
      ['serve', '--grpc-port', 'x'],
      '[value-invalid] --grpc-port must be a port from 0 to 65535; got “x”\n  next: Correct it or leave it out (default: 8001).\n',
    ],
    [['goldens', 'verfy'], '[action-unknown] goldens cannot verfy\n  next: Did you mean verify?\n'],
    [
      ['check', '--target', 'external', '--grpc', 'h:1', '--http', 'h:2'],
      '[tokenizer-missing] target external needs the tokenizer of the checkpoint that it serves\n  next: Add --tokenizer DIR, a folder with tokenizer.json and tokenizer_config.json.\n',
    ],
  ])('%j ends with code 2 and says what to do', async (args, text) => {
    expect(await lockstep(args)).toEqual({ code: 2, out: '', error: text });
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
    expect((await lockstep(['version'], {}, node)).out).toMatch(/^lockstep \d+\.\d+\.\d+ \(Node v24\./);
    expect((await lockstep(['chekc'], {}, node)).code).toBe(2);
  });
});

describe.concurrent('doctor', { timeout: 30_000 }, () => {
  test('a complete checkout is ready', async () => {
    const { code, out } = await lockstep(['doctor']);
    expect(out).toMatch(/^ok +node +v/m);
    expect(out).toMatch(/^ok +checkpoint +vocabulary 512, bos 0, eos 1, pad 2; the tokenizer agrees$/m);
    expect(code).toBe(0);
  });

  test('what is wrong is named with a next step, and the code is 2', async () => {
    const port = await closedPort();
    const { code, out } = await lockstep(
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

describe.concurrent('check', { timeout: 60_000 }, () => {
  test('one claim against the embedded server ends with code 0 and a JSON report where it was asked for', async () => {
    const { code, out } = await lockstep(['check', 'metrics-families', '--json', 'out.json']);
    expect(out).toMatch(/✓ metrics +metrics-families .*claims: 1 held, 0 failed, 0 not served/s);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8'))).toMatchObject({
      schema: 1,
      outcome: 'held',
      header: { target: 'embedded' },
      counts: { held: 1 },
    });
  });

  test('--strict-identity without anything to compare with is no run', async () => {
    const { code, error } = await lockstep(['check', 'metrics-families', '--strict-identity', '--goldens', 'nowhere']);
    expect(error).toMatch(/^\[identity-unknown\] there are no goldens/);
    expect(code).toBe(2);
  });

  test('a fault that does not exist or would change nothing, and a server that is not there are no failed claims', async () => {
    const port = await closedPort();
    const address = `127.0.0.1:${port}`;
    const [fault, hidden, server] = await Promise.all([
      lockstep(['check', '--fault', 'double-bos-templated']),
      lockstep(['check', '--fault', 'double-bos-templated-prompt']),
      lockstep(['check', '--target', 'external', '--grpc', address, '--http', address, '--tokenizer', TINY_CHECKPOINT]),
    ]);
    expect(fault).toMatchObject({ code: 2, error: expect.stringContaining('[fault-unknown]') });
    expect(hidden).toMatchObject({ code: 2, error: expect.stringMatching(/\[fault-hidden\][^]*next: Add --profile ideal/) });
    expect(server).toMatchObject({ code: 2, error: expect.stringMatching(/^\[target-unreachable\] waited [^]*next: Start the server/) });
    expect(server.error).not.toMatch(/^ +at /m);
  });
});

describe.concurrent('serve', { timeout: 30_000 }, () => {
  // gRPC listens by itself, the other three by one function.
  test.each(['grpc', 'http'])('a taken %s port is named, with what to do', async (front) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const ports = ['grpc', 'http', 'metrics', 'openai'].flatMap((name) => [`--${name}-port`, name === front ? `${port}` : '0']);
    const { code, error } = await lockstep(['serve', ...ports]);
    taken.close();
    expect(code).toBe(2);
    expect(error).toMatch(new RegExp(`^\\[listen-failed\\] cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`));
    expect(error).toMatch(/\n +next: Choose another port, or 0 for any free one\.\n$/);
    expect(error).not.toMatch(/^ +at /m);
  });
});

describe.concurrent('interruption', { timeout: 30_000 }, () => {
  test('SIGINT while a run waits for its target ends with code 130', async () => {
    // Takes connections and says nothing: the first one shows that the run waits, however slow the machine is.
    const silent = createServer((socket) => {
      socket.on('error', () => {});
      if (!child.killed) child.kill('SIGINT');
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const child = spawn(
      process.execPath,
      [MAIN, 'check', '--target', 'external', '--grpc', address, '--http', address, '--tokenizer', TINY_CHECKPOINT],
      { cwd, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
    const ended = await once(child, 'close');
    silent.close();
    expect(error).toMatch(/^\[interrupted\]/);
    expect(ended).toEqual([130, null]);
  });

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
