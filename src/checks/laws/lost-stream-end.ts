import type { KnownGap } from './types.ts';

/**
 * Every message came, the final one too, and the server did not end the stream that its client had closed: seen on one
 * stream in some hundreds. Such a stream is judged by its messages and counted here.
 */
export const LOST_STREAM_END: KnownGap = {
  id: 'stream-end-lost',
  law: 'answers-at-all',
  routes: ['raw', 'ensemble', 'bls', 'bls-accumulate', 'llmapi'],
  mode: 'stream',
  axis: 'core',
  releases: ['2.45', '2.46', '2.47', '2.48'],
  deviation: 'Now and then a gRPC stream is not ended after its last message; an ensemble with one stays UNLOADING when it is unloaded.',
  thread: 'docs/observed.md#triton-by-release',
  listed: (profile) => !profile.core.streamsEnd.value,
};
