import { FRONT_END_FAULTS } from '#embedded/faults/front-ends.ts';
import { findFaults } from './find-fault.ts';

findFaults(FRONT_END_FAULTS);
