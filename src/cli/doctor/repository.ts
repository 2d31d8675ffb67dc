/** The model repository: whether it serves this engine with this tokenizer, and what an audit would find in it. */
import { resolve } from 'node:path';
import { foldersOf, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { quoted } from '#checks/lab/replay-command.ts';
import { type Audit, auditRepository, type EngineFolder, fitOf, readEngineConfig } from '#targets/repository/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { shown } from '../init/choose.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const WHAT = 'repository';

export const examineRepository: Examination = async ({ settings, cwd }) => {
  const { repository, target, engineDir } = settings;
  if (repository === undefined) {
    if (engineDir === undefined || target === 'external' || target === 'openai') return [];
    return [fail(WHAT, 'none is named, and an engine is served by one: --repository DIR', createCommand(settings))];
  }
  const folder = resolve(cwd, repository);
  try {
    const { models, misfits } = fitOf(folder, {
      engine: attempt(() => engineOf(settings, cwd)),
      tokenizerHash: attempt(() => tokenizerHashOf(settings, cwd)),
      onThisHost: target === 'process',
    });
    const found = misfits.map(({ level, text, next }) => (level === 'fails' ? fail : warn)(WHAT, text, next));
    const told = ok(WHAT, `${shown(folder, cwd)}: ${models.join(' ')}`);
    return [...(found.some(({ level }) => level === 'fail') ? found : [told, ...found]), examineKnobs(folder, cwd)];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    const made = error.code === 'repository-missing' && engineDir !== undefined ? createCommand(settings) : undefined;
    return [fail(WHAT, error.message, made ?? error.hint ?? 'Make it anew: lockstep repository create.')];
  }
};

function createCommand({ engineDir = 'DIR', tokenizer = 'DIR', repository = 'DIR' }: Settings): string {
  const [engine, tokens, output] = [engineDir, tokenizer, repository].map(quoted);
  return `Make it: lockstep repository create --engine-dir ${engine} --tokenizer ${tokens} --output ${output} --nvidia-models DIR (docs/gpu-ci.md).`;
}

function examineKnobs(folder: string, cwd: string): Finding {
  let findings: Audit['findings'];
  try {
    ({ findings } = auditRepository(folder, undefined));
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return warn('audit', error.message, error.hint ?? `Read more: lockstep audit ${shown(folder, cwd)}`);
  }
  const count = (level: string) => findings.filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (errors + warnings === 0) return ok('audit', 'no knob of the repository is known to change answers');
  const text = `${errors} errors and ${warnings} warnings: knobs of the repository that can change answers`;
  return warn('audit', text, `Read them: lockstep audit ${shown(folder, cwd)}`);
}

function engineOf({ engineDir }: Settings, cwd: string): EngineFolder | undefined {
  return engineDir === undefined ? undefined : readEngineConfig(resolve(cwd, engineDir));
}

function tokenizerHashOf(settings: Settings, cwd: string): string | undefined {
  const { tokenizer } = foldersOf(settings, cwd);
  return tokenizer === undefined ? undefined : loadTokenizer(tokenizer).hash;
}

/** What is wrong with engine and tokenizer has lines of its own. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
