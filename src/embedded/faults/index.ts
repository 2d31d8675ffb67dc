import { ENGINE_FAULTS } from './engine.ts';
import { MODEL_FAULTS } from './models.ts';
import { OPENAI_FAULTS } from './openai.ts';
import type { Fault } from './types.ts';

export type { Fault } from './types.ts';

/** Every deliberate defect of the embedded server; the suite shows that its ordinary run finds each of them. */
export const FAULTS: readonly Fault[] = [...ENGINE_FAULTS, ...MODEL_FAULTS, ...OPENAI_FAULTS];
