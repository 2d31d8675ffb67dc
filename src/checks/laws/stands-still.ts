import { answersAtAll } from './answers-at-all.ts';
import type { Gap } from './types.ts';

/** Rarer than an end that is lost, and of the same release: what was not sent then never is. It excuses a true beginning of the answer. */
export const STANDS_STILL: Gap = {
  id: 'stream-stands-still',
  law: answersAtAll.id,
  routes: ['raw'],
  mode: 'stream',
  axis: 'core',
  releases: ['2.45'],
  deviation: 'Now and then a gRPC stream stands still amid its answer, and neither goes on nor ends.',
  thread: 'docs/observed.md#triton-by-release',
  listed: (profile) => profile.core.streamsStandStill.value,
  // It was met once in thousands, so that an answer which came whole shows nothing.
  shows: () => false,
  explains: (t, { code }, { truth }) =>
    code === 'no-end' && truth !== undefined && t.ids.length < truth.ids.length && t.ids.every((id, i) => id === truth.ids[i]),
};
