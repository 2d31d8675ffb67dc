import type { Probe } from '../probe.ts';
import { BEAMS_AND_SEQUENCES } from './beams.ts';
import { TOP_P_OVER_TIME } from './decay.ts';
import { DRAWS } from './draws.ts';
import { ENDINGS } from './endings.ts';
import { FIELDS } from './fields.ts';
import { INERT } from './inert.ts';
import { PENALTIES } from './penalties.ts';
import { REFUSED } from './refused.ts';
import { RETURNED } from './returned.ts';
import { SERVE_FIELDS } from './serve-fields.ts';
import { WORDS_AND_BIAS } from './words-and-bias.ts';

/** Probes by the claim that asks them. */
export const FAMILIES = {
  endings: ENDINGS,
  'words-and-bias': WORDS_AND_BIAS,
  penalties: PENALTIES,
  draws: DRAWS,
  'top-p-over-time': TOP_P_OVER_TIME,
  'beams-and-sequences': BEAMS_AND_SEQUENCES,
  returned: RETURNED,
  inert: INERT,
  refused: REFUSED,
  fields: [...FIELDS, ...SERVE_FIELDS],
} as const satisfies Readonly<Record<string, readonly Probe[]>>;

export type Family = keyof typeof FAMILIES;
