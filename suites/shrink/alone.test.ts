import { ALONE } from './faults.ts';
import { reproduceAll } from './reproduce-all.ts';

reproduceAll(ALONE);
