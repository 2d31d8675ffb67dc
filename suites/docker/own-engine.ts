import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { pollUntil } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { connectEngine } from '#targets/docker/index.ts';
import { readProcess } from '#targets/host/index.ts';
import { registerForCleanup } from '#targets/watchdog/index.ts';

const READY_WITHIN_MS = 30_000;
/** It stops its containers first. */
const ENDED_WITHIN_MS = 30_000;

export interface OwnEngine extends AsyncDisposable {
  readonly socket: string;
  readonly pid: number;
  /** SIGTERM: it stops its containers, and ends. */
  stop(): Promise<void>;
  /** SIGKILL: what runs in its containers runs on. */
  kill(): Promise<void>;
}

const RUN = '/run/lockstep-engine';
export const OWN_SOCKET = join(RUN, 'docker.sock');
const DATA = join(PACKAGE_ROOT, '.cache/docker/engine');
const LOG = join(PACKAGE_ROOT, '.cache/docker/engine.log');

/**
 * A Docker engine of this project where there is no other: own socket, images in .cache/docker. Two at once would share the bridge
 * docker0, which one of them removes under the other's feet.
 *
 * Errors: `engine-not-started`.
 */
export async function startOwnEngine(): Promise<OwnEngine> {
  const program = ['/usr/sbin/dockerd', '/usr/bin/dockerd', '/usr/local/bin/dockerd'].find((path) => existsSync(path));
  if (program === undefined || process.getuid?.() !== 0) {
    throw new LockstepError('engine-not-started', program === undefined ? 'dockerd is not installed' : 'dockerd needs root', {
      hint: 'On Debian: sudo apt-get install docker.io iptables, and run this as root; or start an engine and name it with DOCKER_HOST.',
    });
  }
  for (const folder of [RUN, DATA]) mkdirSync(folder, { recursive: true });
  forgetDeadContainerd(join(RUN, 'exec/containerd/containerd.pid'));
  const folders = ['--data-root', DATA, '--exec-root', join(RUN, 'exec'), '--pidfile', join(RUN, 'dockerd.pid')];
  const output = openSync(LOG, 'w');
  const child = spawn(program, ['--host', `unix://${OWN_SOCKET}`, ...folders], {
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  const pid = child.pid ?? 0;
  const registration = registerForCleanup({ pids: pid > 1 ? [pid] : [] });
  const end = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await pollUntil({ ms: ENDED_WITHIN_MS, everyMs: 20, what: 'the own engine to end' }, () =>
        child.exitCode !== null || child.signalCode !== null ? true : undefined,
      );
    }
    registration.release();
  };
  const terminate = end('SIGTERM');
  const stop = async () => {
    await terminate();
    // Left where a container had the host's network; without it, its folder could not be removed. Where there was none, it says so.
    spawnSync('umount', [join(RUN, 'exec/netns/default')], { stdio: 'ignore' });
    unmountData();
  };
  try {
    await pollUntil({ ms: READY_WITHIN_MS, everyMs: 50, what: `the own engine to answer` }, async () => {
      if (child.exitCode !== null) throw new LockstepError('engine-not-started', `dockerd ended with ${child.exitCode}`);
      return connectEngine({ DOCKER_HOST: `unix://${OWN_SOCKET}` }).catch(() => undefined);
    });
  } catch (thrown) {
    await stop();
    throw new LockstepError('engine-not-started', `dockerd does not start: ${(thrown as Error).message}`, {
      context: { log: readFileSync(LOG, 'utf8').trim().split('\n').slice(-10).join('\n') },
      hint: 'Read its log; as root without a container around it, it needs nothing but iptables.',
      cause: thrown,
    });
  }
  child.unref();
  return { socket: OWN_SOCKET, pid, stop, kill: end('SIGKILL'), [Symbol.asyncDispose]: stop };
}

/** An engine mounts its data folder on itself, and one that is killed leaves that behind: the checkout could not be removed. */
function unmountData(): void {
  const folder = realpathSync(DATA);
  for (let left = readFileSync('/proc/self/mounts', 'utf8').split(` ${folder} `).length - 1; left > 0; left--)
    spawnSync('umount', ['--recursive', folder], { stdio: 'ignore' });
}

/** A killed engine takes its containerd along, which stays in the process table until somebody waits for it; the next takes it for alive. */
function forgetDeadContainerd(path: string): void {
  if (!existsSync(path)) return;
  const row = readProcess(Number(readFileSync(path, 'utf8')));
  if (row === undefined || row.state === 'Z') rmSync(path);
}
