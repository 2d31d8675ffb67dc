/** Slurm, as target slurm needs it; of no interest to others. */
import { readPartitions } from '#targets/slurm/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Examination } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

export const examineSlurm: Examination = async ({ settings, signal }) => {
  if (settings.target !== 'slurm') return [];
  try {
    const { version, partitions } = await readPartitions(signal);
    const names = partitions.map(({ name }) => name).join(' ');
    const found = ok('slurm', `${version}, partitions ${names}`);
    const wanted = settings.partition?.split(',') ?? partitions.filter(({ isDefault }) => isDefault).map(({ name }) => name);
    if (wanted.length === 0)
      return [found, fail('partition', 'the cluster has no default partition', `Choose one with --partition: ${names}.`)];
    return [
      found,
      ...wanted.map((name) => {
        const one = partitions.find((partition) => partition.name === name);
        if (one === undefined) return fail('partition', `there is no partition ${name}`, `Choose one with --partition: ${names}.`);
        const text = `${name} is ${one.state}, ${one.nodes} node${one.nodes === 1 ? '' : 's'}, jobs may run ${one.timeLimit}, resources ${one.gres}`;
        return one.state === 'up'
          ? ok('partition', text)
          : warn('partition', text, 'A job waits there until it is up; --partition names another.');
      }),
    ];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return [fail('slurm', error.message.replace(/^\[[^\]]*\] /, ''), error.hint ?? 'Run it on a login node of the cluster.')];
  }
};
