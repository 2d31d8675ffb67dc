/** `lockstep goldens record|verify|update|list|review`. */
import { TINY_CHECKPOINT, nearest, resolveSettings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { refuseFaults } from './faults.ts';
import { type GoldensAction, runGoldens } from './goldens-run.ts';
import { reviewGoldens } from './goldens-review.ts';

const REVIEW = 'review';
const ACTIONS: readonly (GoldensAction | typeof REVIEW)[] = ['record', 'verify', 'update', 'list', REVIEW];

export async function goldens(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const [word, ...filters] = flags.positionals;
  const action = actionOf(word);
  const settings = await resolveSettings({ command: 'goldens', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd);
  if (action === REVIEW) return reviewGoldens(context, { config, files: filters, decisions: settings.decisions });
  await refuseFaults(config.faults, config.profile, config.checkpoint ?? TINY_CHECKPOINT);
  const { code } = await runGoldens(action, {
    config,
    filters: [...settings.filter, ...filters],
    signal,
    out: terminal.out,
  });
  return code;
}

function actionOf(word: string | undefined): (typeof ACTIONS)[number] {
  const found = ACTIONS.find((action) => action === word);
  if (found !== undefined) return found;
  const meant = word === undefined ? undefined : nearest(word, ACTIONS);
  throw new LockstepError('action-unknown', word === undefined ? 'goldens needs to know what to do' : `goldens cannot ${word}`, {
    hint: meant === undefined ? `Write one of: lockstep goldens ${ACTIONS.join('|')}.` : `Did you mean ${meant}?`,
  });
}
