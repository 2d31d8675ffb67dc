import { formatError, LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { run } from './run.ts';

/** Runs a command line and says what went wrong, if anything did: code, next step, and nothing of the code's inside. */
export async function execute(args: readonly string[], context: Omit<CommandContext, 'flags'>): Promise<number> {
  try {
    return await run(args, context);
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    context.terminal.error(formatError(error));
    // A defect of this program, not something that the reader did: only then does the place in the code help.
    if (error.code === 'internal' && thrown instanceof Error) context.terminal.error(thrown.stack ?? '');
    return context.signal.aborted || error.code === 'interrupted' ? EXIT.interrupted : EXIT.impossible;
  }
}
