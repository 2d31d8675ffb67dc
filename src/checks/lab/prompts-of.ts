import type { RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { coldOf } from './cold.ts';
import { promptPool } from './goldens.ts';
import type { PoolPrompt } from './plan.ts';

/** The prompts that a run draws from. Errors: those of a prompt file, and `request-unknown` where `only` names none of it. */
export function promptsOf(config: Pick<RunConfig, 'prompts' | 'only'>, tokenizer: Tokenizer): readonly PoolPrompt[] {
  return narrowed(promptPool(tokenizer, config.prompts), config.only);
}

/** Prompts that the request was made from: its id is the prompt's name, perhaps with what was done to it behind. */
function narrowed(prompts: readonly PoolPrompt[], only: string | undefined): readonly PoolPrompt[] {
  // A cold prompt is made of many others.
  if (only === undefined || coldOf(only) !== undefined) return prompts;
  const some = prompts.filter(({ name }) => only === name || only.startsWith(`${name}-`));
  if (some.length === 0) {
    throw new LockstepError('request-unknown', `no prompt has the name ${only}`, {
      hint: "Use the id that a failure's case shows; `npx lockstep goldens list` names the requests with goldens.",
    });
  }
  return some;
}
