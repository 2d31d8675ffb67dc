import { readdirSync, readFileSync } from 'node:fs';

/** CPU time that the threads of a process have had, in microseconds. Linux: proc(5), `schedstat`, nanoseconds on the CPU. */
export function processCpuUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000,
    0,
  );
}
