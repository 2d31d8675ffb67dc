/** `lockstep doctor`: looks at everything that a run needs and says what to do about it. */
import { defaultSettings, resolveSettings } from '#core/config/index.ts';
import type { Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { styleFor } from '#report/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { examineCache } from './cache.ts';
import { examineCheckpoint } from './checkpoint.ts';
import { examineConfiguration } from './configuration.ts';
import type { Examination, Finding, Patient } from './finding.ts';
import { fail } from './finding.ts';
import { examineDocker } from './docker.ts';
import { examineEngine } from './engine.ts';
import { examineGoldens } from './goldens.ts';
import { examineGpus } from './gpus.ts';
import { examineHost } from './host.ts';
import { examineNode } from './node.ts';
import { examinePorts } from './ports.ts';
import { examinePython } from './python.ts';
import { examineRepository } from './repository.ts';
import { examineSlurm } from './slurm.ts';
import { examineTarget } from './target.ts';

const EXAMINATIONS: readonly Examination[] = [
  examineNode,
  examineConfiguration,
  examinePorts,
  examineCheckpoint,
  examineEngine,
  examineRepository,
  examineGoldens,
  examineCache,
  examineHost,
  examinePython,
  examineGpus,
  examineDocker,
  examineSlurm,
  examineTarget,
];

/** All at once, since several wait for what may not answer; but for the ports, which would answer in a server's place. */
async function begin(patient: Patient): Promise<readonly Promise<readonly Finding[]>[]> {
  const look = async (examine: Examination): Promise<readonly Finding[]> => {
    try {
      return await examine(patient);
    } catch (thrown) {
      return [fail('doctor', LockstepError.from(thrown).message, 'This look itself failed; please report it.')];
    }
  };
  const ports = look(examinePorts);
  await ports;
  return EXAMINATIONS.map((examine) => (examine === examinePorts ? ports : look(examine)));
}

const WHAT_CELLS = 15;

export async function doctor({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const style = styleFor(process.stdout, env);
  const marks = { ok: style.good('ok  '), warn: style.warn('warn'), fail: style.bad('fail') };
  const counts = { ok: 0, warn: 0, fail: 0 };
  const show = (finding: Finding) => {
    counts[finding.level]++;
    terminal.out(`${marks[finding.level]}  ${finding.what.padEnd(WHAT_CELLS)} ${finding.text}`);
    if (finding.next !== undefined) terminal.out(`${' '.repeat(WHAT_CELLS + 7)}${style.dim(`next: ${finding.next}`)}`);
  };
  let settings: Settings;
  try {
    settings = await resolveSettings({ command: 'doctor', flags: flags.layer, env, cwd, signal });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    show(fail('configuration', error.message, error.hint ?? 'Correct it.'));
    settings = defaultSettings();
  }
  for (const looking of await begin({ settings, env, cwd, signal })) {
    for (const finding of await looking) show(finding);
    if (signal.aborted) return EXIT.interrupted;
  }
  terminal.out('');
  terminal.out(
    counts.fail > 0
      ? style.bad(`${counts.fail} to repair, ${counts.warn} to know, ${counts.ok} fine`)
      : style.good(`ready: ${counts.ok} fine, ${counts.warn} to know`),
  );
  return counts.fail > 0 ? EXIT.impossible : EXIT.held;
}
