import { ENGINE_FAULTS } from '#embedded/faults/engine.ts';
import { findFaults } from './find-fault.ts';

findFaults(ENGINE_FAULTS);
