import { defineClaims } from '#report/define-claims.ts';
import { claimsOf } from './claims.ts';
import { GENAI_PERF } from './genai-perf.ts';
import { PERF_ANALYZER } from './perf-analyzer.ts';

defineClaims([PERF_ANALYZER, GENAI_PERF].flatMap(claimsOf));
