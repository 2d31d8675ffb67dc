/** What servers on this host need of it: shared memory, locked memory, disk, a clock. */
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { wallClockMs } from '#core/clock/index.ts';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { Examination, Finding } from './finding.ts';
import { ok, warn } from './finding.ts';

/** Each instance of a Python model takes 1 MiB at its start and more with its tensors. */
const SHARED_MEMORY_BYTES = 256 * 2 ** 20;
/** A laid out release takes 0.2 GB, the images of two versions 0.4 GB, an image of NVIDIA's 20 GB and more. */
const DISK_BYTES = 2 * 2 ** 30;
const DAY_MS = 86_400_000;
/** Capability that lets a process raise its hard limits; bit 24 of CapEff (linux/capability.h). */
const CAP_SYS_RESOURCE = 1n << 24n;

export const examineHost: Examination = async () => [...examineSharedMemory(), ...examineLimits(), examineDisk(), examineClock()];

function examineSharedMemory(): Finding[] {
  const free = freeBytes('/dev/shm');
  if (free === undefined) return [];
  const text = `${gib(free)} free in /dev/shm`;
  return [
    free < SHARED_MEMORY_BYTES
      ? warn(
          'shared memory',
          text,
          'Python models of a server on this host need some; remove what dead servers left there, or mount it larger.',
        )
      : ok('shared memory', text),
  ];
}

function examineLimits(): Finding[] {
  const limits = read('/proc/self/limits');
  const status = read('/proc/self/status');
  const locked = /^Max locked memory\s+(\S+)/m.exec(limits ?? '')?.[1];
  const effective = /^CapEff:\s+([0-9a-f]+)/m.exec(status ?? '')?.[1];
  if (locked === undefined || effective === undefined) return [];
  const may = (BigInt(`0x${effective}`) & CAP_SYS_RESOURCE) !== 0n;
  const shown = locked === 'unlimited' ? locked : `${locked} bytes`;
  if (may || locked === 'unlimited') return [ok('limits', `locked memory ${shown}, a container may have it without limit`)];
  return [
    warn(
      'limits',
      `locked memory ${shown}, and an engine started here could not raise it (no CAP_SYS_RESOURCE)`,
      'A container gets what this host may give; run the engine where it has that capability to use --ulimit memlock=-1.',
    ),
  ];
}

function examineDisk(): Finding {
  const free = freeBytes(PACKAGE_ROOT) ?? 0;
  const text = `${gib(free)} free for .cache and goldens`;
  return free < DISK_BYTES ? warn('disk', text, 'Servers that are laid out and images take gigabytes; make room.') : ok('disk', text);
}

/** Dates of recordings come from it, and certificates are judged by it. */
function examineClock(): Finding {
  const now = wallClockMs();
  const checkout = statSync(join(PACKAGE_ROOT, 'package.json')).mtimeMs;
  const shown = new Date(now).toISOString().slice(0, 19);
  if (now + DAY_MS < checkout) {
    return warn(
      'clock',
      `${shown}Z lies before the files of this checkout`,
      'Set the clock: recordings carry its date, and TLS certificates are judged by it.',
    );
  }
  return ok('clock', `${shown}Z`);
}

function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
