import { BLS_FAULTS } from './bls.ts';
import { ENGINE_FAULTS } from './engine.ts';
import { FRONT_END_FAULTS } from './front-ends.ts';
import { LLMAPI_FAULTS } from './llmapi.ts';
import { MODEL_FAULTS } from './models.ts';
import type { Fault } from './types.ts';

export type { Fault } from './types.ts';

/** Every deliberate defect of the embedded server; the suite shows that its ordinary run finds each of them. */
export const FAULTS: readonly Fault[] = [...ENGINE_FAULTS, ...LLMAPI_FAULTS, ...MODEL_FAULTS, ...BLS_FAULTS, ...FRONT_END_FAULTS];
