/** The Python processes behind a server of this host. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { modelOfStub, stubsBelow } from '../../tritonserver/index.ts';

/**
 * How many Python stubs each model has, or undefined where the server is not of this host, or cannot be seen into.
 *
 * @param address host:port of one of its ports
 */
export function stubsBehind(address: string): ReadonlyMap<string, number> | undefined {
  const match = /^(?:\w+:\/\/)?(127\.0\.0\.1|localhost|\[::1\]):(\d+)/.exec(address);
  const pid = match === null ? undefined : listenerOf(Number(match[2]));
  if (pid === undefined) return undefined;
  const counts = new Map<string, number>();
  for (const stub of stubsBelow(pid)) {
    const model = modelOfStub(stub);
    if (model !== '') counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  return counts;
}

/** The process that listens on a TCP port, from /proc/net (proc_net_tcp: state 0A, inode in the tenth field). */
function listenerOf(port: number): number | undefined {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set<string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of linesOf(`/proc/net/${table}`)) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(wanted) === true && fields[3] === '0A') sockets.add(`socket:[${fields[9]}]`);
    }
  }
  if (sockets.size === 0) return undefined;
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => entries(`/proc/${pid}/fd`).some((descriptor) => sockets.has(linkOf(`/proc/${pid}/fd/${descriptor}`))));
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}

function entries(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
