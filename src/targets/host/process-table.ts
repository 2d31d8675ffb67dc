import { readFileSync, readdirSync } from 'node:fs';

/** One row of /proc. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Kernel state letter; Z is a process that died and was not waited for. */
  readonly state: string;
  /** Start time in clock ticks since boot: with the pid it names a process for good. */
  readonly startTicks: number;
  readonly argv: readonly string[];
}

/** All processes of this machine whose command line holds `mark`, dead ones excluded. */
export function findLiving(mark: string): ProcessRow[] {
  return readTable().filter((row) => row.state !== 'Z' && row.argv.some((argument) => argument.includes(mark)));
}

/** Children and children's children, dead ones excluded. */
export function findDescendants(root: number): ProcessRow[] {
  const table = readTable();
  const family = new Set([root]);
  for (let before = -1; before !== family.size;) {
    before = family.size;
    for (const row of table) if (family.has(row.parent)) family.add(row.pid);
  }
  return table.filter((row) => row.pid !== root && family.has(row.pid) && row.state !== 'Z');
}

/** The process now behind a pid, or undefined. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the fields after the last one are fixed (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return { pid, state: fields[0] ?? '?', parent: Number(fields[1]), startTicks: Number(fields[19]), argv };
  } catch {
    return undefined;
  }
}

/** Whether that very process (not a later one with its number) still runs. */
export function isLiving(row: Pick<ProcessRow, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(row.pid);
  return now !== undefined && now.startTicks === row.startTicks && now.state !== 'Z';
}

/** SIGKILL to that very process; gone already is fine. */
export function killRow(row: ProcessRow): void {
  if (!isLiving(row)) return;
  try {
    process.kill(row.pid, 'SIGKILL');
  } catch {
    // It ended between the look and the signal.
  }
}

function readTable(): ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((row) => row !== undefined);
}
