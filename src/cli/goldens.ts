/** `lockstep goldens record|verify|update|list`. */
import { TINY_CHECKPOINT, nearest, resolveSettings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { refuseFaults } from './faults.ts';
import { type GoldensAction, runGoldens } from './goldens-run.ts';

const ACTIONS: readonly GoldensAction[] = ['record', 'verify', 'update', 'list'];

export async function goldens(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const [word, ...filters] = flags.positionals;
  const action = actionOf(word);
  const settings = await resolveSettings({ command: 'goldens', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd);
  await refuseFaults(config.faults, config.profile, config.checkpoint ?? TINY_CHECKPOINT);
  const { code } = await runGoldens(action, {
    config,
    filters: [...settings.filter, ...filters],
    signal,
    out: terminal.out,
  });
  return code;
}

function actionOf(word: string | undefined): GoldensAction {
  const found = ACTIONS.find((action) => action === word);
  if (found !== undefined) return found;
  const meant = word === undefined ? undefined : nearest(word, ACTIONS);
  throw new LockstepError('action-unknown', word === undefined ? 'goldens needs to know what to do' : `goldens cannot ${word}`, {
    hint: meant === undefined ? `Write one of: lockstep goldens ${ACTIONS.join('|')}.` : `Did you mean ${meant}?`,
  });
}
