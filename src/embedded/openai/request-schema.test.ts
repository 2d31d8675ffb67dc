import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../fastapi/index.ts';
import { validatedBody } from './request-body.ts';
import { requestSchemas } from './request-schema.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';

/** Bodies that FastAPI 0.121.2 with Pydantic 2.14.4 gave to the schemas of r25.12 (schemas/openai.py), recorded apart. */
interface Recorded {
  readonly path: string;
  /** Bytes as latin-1. */
  readonly body: string;
  readonly type: string | null;
  readonly status: number;
  readonly ctype: string;
  readonly answer: string;
}
const recorded = JSON.parse(readFileSync(new URL('request-schema.cases.json', import.meta.url), 'utf8')) as Recorded[];

const schemas = requestSchemas(DEFAULT_PROFILE.openai);

describe('the recorded answers of the real schema', () => {
  test.each(recorded.map((r) => [`${r.path} ${r.body.slice(0, 120)} ${r.type ?? 'without type'}`, r] as const))('%s', (_, r) => {
    const headers = r.type === null ? {} : { 'content-type': r.type };
    const validator = r.path === '/v1/completions' ? schemas.completion : schemas.chat;
    let seen = { status: 200, ctype: 'application/json', answer: '{}' };
    try {
      validatedBody<unknown>(validator, headers, Buffer.from(r.body, 'latin1'));
    } catch (thrown) {
      if (!(thrown instanceof HttpError)) throw thrown;
      seen = { status: thrown.status, ctype: thrown.type, answer: thrown.body };
    }
    expect(seen).toEqual({ status: r.status, ctype: r.ctype, answer: r.answer });
  });
});
