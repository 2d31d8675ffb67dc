import { MODEL_FAULTS } from '#embedded/faults/models.ts';
import { OPENAI_FAULTS } from '#embedded/faults/openai.ts';
import { findFaults } from './find-fault.ts';

findFaults([...MODEL_FAULTS, ...OPENAI_FAULTS]);
