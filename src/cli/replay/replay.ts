/** `lockstep replay serve|laws|send|import`. */
import { nearest } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Command, CommandContext } from '../command.ts';

const ACTIONS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  send: async () => (await import('./send.ts')).send,
  import: async () => (await import('./import.ts')).importFiles,
  laws: async () => (await import('./laws.ts')).laws,
};

export async function replay(context: CommandContext): Promise<number> {
  const [word, ...positionals] = context.flags.positionals;
  const action = word === undefined || !Object.hasOwn(ACTIONS, word) ? undefined : ACTIONS[word];
  if (action === undefined) {
    const all = Object.keys(ACTIONS);
    const meant = word === undefined ? undefined : nearest(word, all);
    throw new LockstepError('action-unknown', word === undefined ? 'replay needs to know what to do' : `replay cannot ${word}`, {
      hint: meant === undefined ? `Write one of: lockstep replay ${all.join('|')} FILE….` : `Did you mean ${meant}?`,
    });
  }
  const run = await action();
  return run({ ...context, flags: { ...context.flags, positionals } });
}
