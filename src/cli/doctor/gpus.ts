/** GPUs of this host, by their driver. */
import { hostFacts } from '#targets/host/index.ts';
import type { Examination } from './finding.ts';
import { ok, warn } from './finding.ts';

/** A look is no place to wait; one that takes longer is worth a word. */
const WITHIN_MS = 6_000;

export const examineGpus: Examination = async ({ env, signal }) => {
  const { gpu = 'none' } = await hostFacts({ path: env['PATH'] ?? '', signal, withinMs: WITHIN_MS });
  if (gpu === 'none') return [warn('gpus', 'none on this host', 'The embedded server and the CPU models need none; an engine does.')];
  if (gpu === 'unknown')
    return [
      warn(
        'gpus',
        'nvidia-smi says nothing, or takes longer than 6 s',
        'Run nvidia-smi by itself; nvidia-smi -pm 1 keeps the driver loaded.',
      ),
    ];
  return [ok('gpus', gpu)];
};
