import type { Asked } from '#checks/recording/index.ts';
import type { RunOptions } from '#checks/routes/index.ts';

/** The part of a route's options that is data. */
export function askedOf({ logProbs, margins, cancel }: Partial<RunOptions>): Asked {
  return {
    ...(logProbs === undefined ? {} : { logProbs }),
    ...(margins === undefined ? {} : { margins }),
    ...(cancel === undefined ? {} : { cancel: cancel.how === 'leave-when' ? { how: cancel.how } : cancel }),
  };
}
