/** The embedded server's fault catalogue, as far as commands need it. */
import { TINY_CHECKPOINT, nearest } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { profileIncludes } from '#core/profile/index.ts';
import type { Fault } from '#embedded/faults/types.ts';

/** Loaded on demand: most runs have no faults. */
export async function listFaults(): Promise<readonly Fault[]> {
  // A name in a variable, since the catalogue is not needed to type-check a command.
  const path = '#embedded/faults/index.ts';
  const module = (await import(path)) as { readonly FAULTS: readonly Fault[] };
  return module.FAULTS;
}

/**
 * Errors: `fault-unknown`, with the nearest id that exists; `fault-hidden` for one that the profile has as its known gap, or
 * that breaks nothing on the checkpoint that is served.
 */
export async function refuseFaults(ids: readonly string[], profile: string, checkpoint: string): Promise<void> {
  if (ids.length === 0) return;
  const known = new Map((await listFaults()).map((fault) => [fault.id, fault]));
  for (const id of ids) {
    const fault = known.get(id);
    if (fault === undefined) {
      const meant = nearest(id, [...known.keys()]);
      throw new LockstepError('fault-unknown', `there is no fault ${id}`, {
        hint: meant === undefined ? '`lockstep serve --list-faults` names them all.' : `Did you mean ${meant}?`,
      });
    }
    if (fault.profile !== undefined && !profileIncludes(profile, fault.profile)) {
      throw new LockstepError('fault-hidden', `${id} changes nothing under the profile ${profile}, where servers behave so anyway`, {
        hint: `Add --profile ${fault.profile}.`,
      });
    }
    if (fault.checkpoint !== undefined && checkpoint === TINY_CHECKPOINT) {
      throw new LockstepError('fault-hidden', `${id} changes nothing on the tiny checkpoint, whose tokenizer has nothing of the kind`, {
        hint: `Add --checkpoint docker/checkpoint/${fault.checkpoint}.`,
      });
    }
  }
}

/** One block per fault, grouped by class: id, what it breaks, which laws catch it. */
export function formatFaults(faults: readonly Fault[]): string {
  const blocks = [...Map.groupBy(faults, (fault) => fault.class)].map(([group, members]) =>
    [
      group,
      ...members.map(
        (fault) =>
          `  ${fault.id}\n      ${fault.mechanism}\n      caught by ${fault.caughtBy.join(', ')}${fault.profile === undefined ? '' : `, with --profile ${fault.profile}`}${fault.checkpoint === undefined ? '' : `, with --checkpoint docker/checkpoint/${fault.checkpoint}`}   ${fault.thread}`,
      ),
    ].join('\n'),
  );
  return `${blocks.join('\n\n')}\n\n${faults.length} faults`;
}
