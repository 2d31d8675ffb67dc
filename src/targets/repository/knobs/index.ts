import { ENGINE_KNOBS } from './engine.ts';
import { BUILD_KNOBS, LLMAPI_KNOBS } from './files.ts';
import type { ConfigKnob, Knob } from './knob.ts';
import { TRITON_KNOBS } from './triton.ts';
import { UNSEEN_KNOBS } from './unseen.ts';

export type * from './knob.ts';
export { BUILD_KNOBS, LLMAPI_KNOBS, UNSEEN_KNOBS };

export const CONFIG_KNOBS: readonly ConfigKnob[] = [...TRITON_KNOBS, ...ENGINE_KNOBS];

/** Every knob, in the order of docs/determinism.md. */
export const KNOBS: readonly Knob[] = [...CONFIG_KNOBS, ...LLMAPI_KNOBS, ...BUILD_KNOBS, ...UNSEEN_KNOBS];
