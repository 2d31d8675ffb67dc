/** What may happen to a run: each death is named, and nothing is left behind. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { startDockerServer } from '#targets/docker/index.ts';
import { findDescendants } from '#targets/host/index.ts';
import { type Bench, openBench } from './bench.ts';
import { Command } from './command.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());
afterEach(() => bench.leftNothing());

const CHECK = ['check', '--target', 'docker', 'determinism', 'goldens'];

/** The name of the container, once its server listens: the run's header is printed then. */
async function running(command: Command): Promise<string> {
  await command.says('lockstep against docker', 60_000);
  const [found] = await bench.engine.docker.listContainers({ filters: { label: ['lockstep.run'] } });
  if (found === undefined) throw new Error('no container runs');
  return found.Id;
}

const gone = (ms: number) =>
  pollUntil({ ms, everyMs: 50, what: 'container and shared memory to be gone' }, async () =>
    (await bench.left()).length === 0 ? true : undefined,
  );

test('a container that is killed in the middle of a run is named with its end; the run ends and fails', async () => {
  const command = new Command(CHECK);
  const id = await running(command);
  await command.says('✓ determinism', 60_000);
  await bench.engine.docker.getContainer(id).kill();
  const { code, output } = await command.end(60_000);
  expect(output).toMatch(/server-survives · server-died/);
  expect(output.replaceAll(/\s+/g, ' ')).toMatch(/container lockstep-[0-9a-f]{6} \(process \d+\) ended with exit code 137 \(SIGKILL\)/);
  expect(code).toBe(1);
});

test('SIGKILL to all of a run: the watchdog removes its container within 5 s', async () => {
  const command = new Command(CHECK);
  await running(command);
  command.signalGroup('SIGKILL');
  await command.end(5_000);
  expect(await gone(5_000)).toBe(true);
});

test('SIGKILL to the watchdog too: the next start removes what is left, and says so', async () => {
  const command = new Command(CHECK);
  await running(command);
  for (const pid of watchdogsOf(command.child.pid ?? 0)) process.kill(pid, 'SIGKILL');
  command.signalGroup('SIGKILL');
  await command.end(5_000);
  expect((await bench.left()).filter((name) => name.startsWith('/lockstep-'))).toHaveLength(1);
  const lines: string[] = [];
  const server = await startDockerServer(bench.options({}, { notice: (line) => lines.push(line) }));
  await server.stop();
  expect(lines).toContain('removed 1 container that a killed run left');
});

test('Ctrl-C while the server starts ends with 130 and leaves nothing', async () => {
  const command = new Command(CHECK);
  await pollUntil({ ms: 60_000, everyMs: 10, what: 'the container to be held' }, async () => {
    const found = await bench.engine.docker.listContainers({ filters: { label: ['lockstep.run'] } });
    const server = found.find(({ Names }) => !Names.join('').includes('probe'));
    // Held, so that it never becomes ready.
    return server === undefined
      ? undefined
      : bench.engine.docker
          .getContainer(server.Id)
          .pause()
          .then(() => true);
  });
  command.signalGroup('SIGINT');
  const { code, output } = await command.end(15_000);
  expect(output).toContain('[interrupted] stopped while waiting for tritonserver');
  expect(code).toBe(130);
});

test('goldens on a disk that is full: the file that cannot be written is named, none is cut, and the container goes', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'lockstep-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]);
  try {
    const command = new Command(['goldens', 'record', '--target', 'docker', '--goldens', disk]);
    const { code, output } = await command.end(60_000);
    expect(output).toMatch(/\[file-not-writable\] cannot write .*: ENOSPC: no space left on device/);
    expect(output).toContain('nothing was changed');
    expect(code).toBe(2);
    expect(readdirSync(disk, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  } finally {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  }
});

/** Watchdogs are detached, and yet children of the runner. */
function watchdogsOf(root: number): number[] {
  return findDescendants(root)
    .filter(({ argv }) => argv.some((argument) => argument.endsWith('watchdog/main.ts')))
    .map(({ pid }) => pid);
}
