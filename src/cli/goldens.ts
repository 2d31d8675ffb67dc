/** `lockstep goldens record|verify|update|list`. */
import { nearest, resolveSettings, toRunConfig } from '#core/config/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { refuseUnknownFaults } from './faults.ts';

const ACTIONS = ['record', 'verify', 'update', 'list'] as const;
export type GoldensAction = (typeof ACTIONS)[number];

export interface GoldensOptions {
  readonly config: RunConfig;
  /** Parts of request ids or suites; empty: all. */
  readonly filters: readonly string[];
  readonly signal: AbortSignal;
  /** Prints one line. */
  readonly out: (text: string) => void;
}

export type RunGoldens = (action: GoldensAction, options: GoldensOptions) => Promise<{ readonly code: number }>;

export async function goldens(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const [word, ...filters] = flags.positionals;
  const action = actionOf(word);
  const settings = await resolveSettings({ command: 'goldens', flags: flags.layer, env, cwd });
  await refuseUnknownFaults(settings.fault);
  const runGoldens = await loadRunGoldens();
  const { code } = await runGoldens(action, { config: toRunConfig(settings, cwd), filters: [...settings.filter, ...filters], signal, out: terminal.out });
  return code;
}

async function loadRunGoldens(): Promise<RunGoldens> {
  // A name in a variable: the command is type-checked against its own interface, not against the file's.
  const path = '#checks/lab/goldens-run.ts';
  const module = (await import(path)) as { readonly runGoldens: RunGoldens };
  return module.runGoldens;
}

function actionOf(word: string | undefined): GoldensAction {
  const found = ACTIONS.find((action) => action === word);
  if (found !== undefined) return found;
  const meant = word === undefined ? undefined : nearest(word, ACTIONS);
  throw new LockstepError('action-unknown', word === undefined ? 'goldens needs to know what to do' : `goldens cannot ${word}`, {
    hint: meant === undefined ? `Write one of: lockstep goldens ${ACTIONS.join('|')}.` : `Did you mean ${meant}?`,
  });
}
