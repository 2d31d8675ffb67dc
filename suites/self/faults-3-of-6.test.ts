import { findFaults } from './find-fault.ts';

findFaults(3);
