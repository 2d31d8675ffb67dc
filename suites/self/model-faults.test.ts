import { MODEL_FAULTS } from '#embedded/faults/models.ts';
import { findFaults } from './find-fault.ts';

findFaults(MODEL_FAULTS);
