import { defineClaims } from '#report/define-claims.ts';
import { CLAIMS } from './claims.ts';

defineClaims(CLAIMS);
