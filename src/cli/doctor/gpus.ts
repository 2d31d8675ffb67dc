/** GPUs of this host, by their driver. */
import { hostFacts } from '#targets/host-facts.ts';
import type { Examination } from './finding.ts';
import { ok, warn } from './finding.ts';

export const examineGpus: Examination = async ({ env, signal }) => {
  const { gpu = 'none' } = await hostFacts({ path: env['PATH'] ?? '', signal });
  if (gpu === 'none') return [warn('gpus', 'none on this host', 'The embedded server and the CPU models need none; an engine does.')];
  if (gpu === 'unknown') return [warn('gpus', 'the driver is there and nvidia-smi says nothing', 'Run nvidia-smi by itself and read why.')];
  return [ok('gpus', gpu)];
};
