import { defineClaims } from '#report/define-claims.ts';
import { claimsOf } from './claims.ts';
import { OPENAI_NODE, OPENAI_PYTHON } from './openai.ts';
import { SURFACE } from './surface.ts';
import { GENERATE, TRITON_AIO, TRITON_GRPC, TRITON_HTTP } from './triton.ts';

defineClaims([...SURFACE, ...[TRITON_GRPC, TRITON_AIO, TRITON_HTTP, GENERATE, OPENAI_PYTHON, OPENAI_NODE].flatMap(claimsOf)]);
