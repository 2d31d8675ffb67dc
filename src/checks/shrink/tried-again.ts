import type { Stage } from './stage.ts';
import type { FailingCase, Sighting, Tries } from './types.ts';

/** Tries of a case that fails every time, before it is taken to do so. */
const SURE = 3;
/** Tries of one that does not. */
const UNSURE = 12;

/** How often a case fails, with the last time that it did. Errors: as `Stage.try`. */
export async function triedAgain(
  failing: FailingCase,
  stage: Stage,
): Promise<{ readonly tries: Tries; readonly sighting: Sighting | undefined }> {
  let sighting: Sighting | undefined;
  let k = 0;
  let n = 0;
  while (n < (k === n ? SURE : UNSURE)) {
    const found = await stage.try(failing);
    n++;
    if (found === undefined) continue;
    k++;
    sighting = found;
  }
  return { tries: { n, k }, sighting };
}
