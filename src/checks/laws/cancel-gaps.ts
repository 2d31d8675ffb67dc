/** Where a cancel was seen to free nothing: the engine goes on to its natural end (docs/observed.md has the observations). */
import { OPENAI_ROUTES } from './observed.ts';
import { EVERY_CORE, EVERY_FRONT_END } from './release-lists.ts';
import { ENGINE_RAN_ON, type Gap } from './types.ts';

/** It excuses an engine that ran to its end, and no other way to be late. */
export function ranOn(gap: Omit<Gap, 'law' | 'shows' | 'explains'>): Gap {
  return {
    ...gap,
    law: 'cancel-frees',
    shows: (t) => t.ending === 'cancelled',
    explains: (_t, { code }) => code === ENGINE_RAN_ON,
  };
}

export const CANCEL_GAPS: readonly Gap[] = [
  ranOn({
    id: 'http-close-unseen',
    routes: ['generate'],
    mode: 'unary',
    axis: 'core',
    releases: EVERY_CORE,
    deviation: 'The connection is looked at when the whole answer is to be written; until then the engine runs, to its natural end.',
    thread: 'triton-inference-server/server#7077',
    listed: (profile) => !profile.core.httpCloseSeenWhileSilent.value,
  }),
  ranOn({
    id: 'ensemble-cancel-runs-on',
    routes: ['ensemble', 'generate'],
    mode: 'both',
    axis: 'core',
    releases: EVERY_CORE,
    deviation: 'The cancel reaches only steps that are scheduled later; the running engine goes on to its natural end.',
    thread: 'triton-inference-server/server#7077',
    listed: (profile) => !profile.core.ensembleCancelReachesRunningStep.value,
  }),
  ranOn({
    id: 'cancel-unknown-to-models',
    routes: ['raw', 'bls', 'bls-accumulate', 'llmapi'],
    mode: 'both',
    axis: 'core',
    releases: ['2.36'],
    deviation: 'A model has no way to ask whether its client has gone; the engine goes on to its natural end.',
    thread: 'docs/observed.md#triton-by-release',
    listed: (profile) => !profile.core.cancelReachesModels.value,
  }),
  ranOn({
    id: 'openai-disconnect-runs-on',
    routes: OPENAI_ROUTES,
    mode: 'both',
    axis: 'openai',
    releases: EVERY_FRONT_END,
    deviation: 'A client that goes away stops nothing; the engine goes on to its natural end.',
    thread: 'docs/observed.md#openai-front-end-r25-12',
    listed: (profile) => !profile.openai.disconnectCancels.value,
  }),
];
