import { cpus, freemem, totalmem } from 'node:os';
import type { Family } from './family.ts';

/** Size of the pinned pool a server without GPU reports: the default of --pinned-memory-pool-byte-size. */
const PINNED_POOL_BYTES = 268435456;

let lastBusy = 0;
let lastTotal = 0;

/** Gauges of the host, without labels. */
export function hostFamilies(): Family[] {
  const gauge = (name: string, help: string, value: number): Family => ({ name, help, type: 'gauge', samples: [{ labels: {}, value }] });
  return [
    gauge('nv_cpu_utilization', 'CPU utilization rate [0.0 - 1.0]', cpuUtilization()),
    gauge('nv_cpu_memory_total_bytes', 'CPU total memory (RAM), in bytes', totalmem()),
    gauge('nv_cpu_memory_used_bytes', 'CPU used memory (RAM), in bytes', totalmem() - freemem()),
    gauge('nv_pinned_memory_pool_total_bytes', 'Pinned memory pool total memory size, in bytes', PINNED_POOL_BYTES),
    gauge('nv_pinned_memory_pool_used_bytes', 'Pinned memory pool used memory size, in bytes', 0),
  ];
}

/** Share of busy time since the last reading. */
function cpuUtilization(): number {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.idle + times.irq;
    total += all;
    busy += all - times.idle;
  }
  const share = total > lastTotal ? (busy - lastBusy) / (total - lastTotal) : 0;
  lastBusy = busy;
  lastTotal = total;
  return Math.min(1, Math.max(0, share));
}
