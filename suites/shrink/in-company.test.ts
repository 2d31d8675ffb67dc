import { IN_COMPANY } from './faults.ts';
import { reproduceAll } from './reproduce-all.ts';

reproduceAll(IN_COMPANY);
