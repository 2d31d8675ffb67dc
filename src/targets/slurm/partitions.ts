import { slurm } from './slurm-command.ts';

export interface Partition {
  readonly name: string;
  readonly isDefault: boolean;
  /** `up`, `down`, `drain` or `inact`. */
  readonly state: string;
  /** As `1-00:00:00` or `infinite`. */
  readonly timeLimit: string;
  readonly nodes: number;
  /** Generic resources of a node, as `gpu:8`; `(null)` for none. */
  readonly gres: string;
}

/** The cluster's release and its partitions; one of several kinds of nodes is the first kind's. Errors: those of `slurm`. */
export async function readPartitions(
  signal?: AbortSignal,
): Promise<{ readonly version: string; readonly partitions: readonly Partition[] }> {
  const [version, text] = await Promise.all([
    slurm('scontrol', ['--version'], { signal }),
    slurm('sinfo', ['--noheader', '--format=%P|%a|%l|%D|%G'], { signal }),
  ]);
  const known = new Map<string, Partition>();
  for (const line of text.split('\n').filter((one) => one.includes('|'))) {
    const [marked = '', state = '', timeLimit = '', nodes = '', gres = ''] = line.split('|');
    const name = marked.replace(/\*$/, '');
    const before = known.get(name);
    known.set(name, {
      ...(before ?? { name, isDefault: marked.endsWith('*'), state, timeLimit, gres: gres.trim() }),
      nodes: (before?.nodes ?? 0) + Number(nodes),
    });
  }
  return { version: version.trim(), partitions: [...known.values()] };
}
