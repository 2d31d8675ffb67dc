import { VERDICTS } from '#checks/compare/types.ts';
import { LAWS } from '#checks/laws/index.ts';
import type { Company, Fixture, SeenViolation } from '#checks/recording/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { FailingCase } from './types.ts';

const ALONE: Company = { before: [], beside: [] };

/** Laws of claims of their own that a try knows how to look at (try-case.ts). */
const OWN_LAWS: readonly string[] = ['cancel-frees', 'cold-equals-warm', 'neighbours-unchanged', 'server-survives'];

/**
 * What a fixture says that has to be done again; `named` is the violation of it that is meant, where it has several. Errors: `fixture-without-case`, `fixture-without-violation`,
 * `violation-not-repeatable`.
 */
export function failingCaseOf({ header }: Fixture, path: string, named?: SeenViolation): FailingCase {
  const { case: c, asked = {}, company = ALONE, truth } = header;
  const violation = named ?? header.violation;
  if (c === undefined) {
    throw new LockstepError('fixture-without-case', `${path} does not say which request it is, as the suite's own fixtures do`, {
      hint: 'Give one that the suite recorded: a failure names it in the line `fixture`.',
    });
  }
  if (violation === undefined) {
    throw new LockstepError('fixture-without-violation', `${path} names no violation, so nothing says what has to stay`, {
      hint: 'Give one that the suite recorded: a failure names it in the line `fixture`.',
    });
  }
  const { law, code } = violation;
  if (asked.cancel?.how === 'leave-when') {
    throw unrepeatable(path, 'its client left when the engine was seen at work, which no try can time again');
  }
  const judged = LAWS.some(({ id }) => id === law) || OWN_LAWS.includes(law) || (VERDICTS as readonly string[]).includes(code);
  if (!judged) throw unrepeatable(path, `${law} is a law about more than one exchange`);
  return { case: c, asked, company, violation, golden: law === 'golden' ? truth : undefined };
}

function unrepeatable(path: string, why: string): LockstepError {
  return new LockstepError('violation-not-repeatable', `${path} cannot be tried by itself: ${why}`, {
    hint: 'The replay command of the failure repeats the whole claim.',
  });
}
