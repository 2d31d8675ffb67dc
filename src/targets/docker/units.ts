/** The texts of docker run's options → what the engine's API takes. */
import { LockstepError } from '#core/errors/index.ts';

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** `1g` → bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+)([bkmg]?)$/i.exec(text);
  if (match === null)
    throw new LockstepError('size-malformed', `${text} is no size`, { hint: 'Write a number with b, k, m or g, such as 1g.' });
  return Number(match[1]) * UNITS[(match[2] || 'b').toLowerCase()]!;
}

export interface Ulimit {
  readonly Name: string;
  readonly Soft: number;
  readonly Hard: number;
}

/** `nofile=1024:4096` or `memlock=-1`. */
export function parseUlimit(text: string): Ulimit {
  const match = /^([a-z]+)=(-?\d+)(?::(-?\d+))?$/.exec(text);
  if (match === null) {
    throw new LockstepError('ulimit-malformed', `${text} is no limit`, {
      hint: 'Write NAME=SOFT[:HARD], such as memlock=-1 or nofile=1024:4096.',
    });
  }
  const soft = Number(match[2]);
  return { Name: match[1]!, Soft: soft, Hard: match[3] === undefined ? soft : Number(match[3]) };
}

export interface DeviceRequest {
  readonly Driver: string;
  readonly Capabilities: string[][];
  /** Never beside DeviceIDs. */
  readonly Count?: number;
  readonly DeviceIDs?: string[];
}

/** `all`, `none`, or indices and UUIDs. */
export function parseGpus(text: string): DeviceRequest[] {
  if (text === 'none') return [];
  const gpu = { Driver: '', Capabilities: [['gpu']] };
  return [text === 'all' ? { ...gpu, Count: -1 } : { ...gpu, DeviceIDs: text.split(',').map((one) => one.trim()) }];
}
