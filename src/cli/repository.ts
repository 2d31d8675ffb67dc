/** `lockstep repository create`: a complete model repository from engine, tokenizer and launch profile. */
import { relative, resolve } from 'node:path';
import { nearest, resolveSettings, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { planRepository, writeRepository } from '#targets/repository/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function repository({ flags, env, cwd, terminal, signal }: CommandContext): Promise<number> {
  const [word, ...rest] = flags.positionals;
  if (word !== 'create' || rest.length > 0) throw actionUnknown(word, rest);
  const settings = await resolveSettings({ command: 'repository', flags: flags.layer, env, cwd, signal });
  const output = required(settings, 'output', cwd);
  const planned = planRepository({
    form: settings.form,
    backend: settings.backend,
    release: settings.release,
    engine: required(settings, 'engineDir', cwd),
    tokenizer: required(settings, 'tokenizer', cwd),
    nvidiaModels: settings.nvidiaModels === undefined ? undefined : resolve(cwd, settings.nvidiaModels),
    parallel: settings.parallel,
    set: Object.fromEntries(settings.set.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])),
  });
  writeRepository(planned.files, output);
  const shown = relative(cwd, output).startsWith('..') ? output : relative(cwd, output);
  const models = [...planned.files.keys()].filter((path) => path.endsWith('config.pbtxt')).map((path) => path.split('/')[0]);
  terminal.out(`${shown}: ${models.join(', ')} (TensorRT-LLM ${planned.release.id}, form ${settings.form}, back end ${settings.backend})`);
  for (const note of planned.notes) terminal.out(`note: ${note}`);
  return EXIT.held;
}

const FLAGS = { output: '--output', engineDir: '--engine-dir', tokenizer: '--tokenizer' } as const;

function required(settings: Settings, name: keyof typeof FLAGS, cwd: string): string {
  const value = settings[name];
  if (value !== undefined) return resolve(cwd, value);
  throw new LockstepError('setting-missing', `repository create needs ${FLAGS[name]} DIR`, {
    hint: 'Write: lockstep repository create --engine-dir DIR --tokenizer DIR --output DIR.',
  });
}

function actionUnknown(word: string | undefined, rest: readonly string[]): LockstepError {
  const what =
    word === undefined
      ? 'repository needs to know what to do'
      : word === 'create'
        ? `repository create takes no ${rest[0]}`
        : `repository cannot ${word}`;
  const meant = word === undefined || word === 'create' ? undefined : nearest(word, ['create']);
  return new LockstepError('action-unknown', what, {
    hint:
      meant === undefined ? 'Write: lockstep repository create --engine-dir DIR --tokenizer DIR --output DIR.' : `Did you mean ${meant}?`,
  });
}
