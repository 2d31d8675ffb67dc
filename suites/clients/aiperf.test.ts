import { defineClaims } from '#report/define-claims.ts';
import { AIPERF } from './aiperf.ts';
import { claimsOf } from './claims.ts';

defineClaims(claimsOf(AIPERF));
