/**
 * APIs that are answered only to those who send a header. Source: frontend/fastapi/middleware/api_restriction.py (r25.09 to
 * main): methods and beginnings of paths, of the routes that the release has.
 */
import type { IncomingMessage } from 'node:http';
import type { OpenAiProfile } from '#core/profile/index.ts';
import { HttpError } from '../fastapi/index.ts';
import type { Restriction } from './settings.ts';

function endpoints(api: Restriction['apis'][number], { embeddings, modelManagement }: OpenAiProfile): readonly string[] {
  if (api === 'metrics') return ['GET /metrics'];
  if (api === 'health') return ['GET /health/ready'];
  if (api === 'model-repository') return ['GET /v1/models', ...(modelManagement.value ? ['POST /v1/models/'] : [])];
  return ['POST /v1/chat/completions', 'POST /v1/completions', ...(embeddings.value ? ['POST /v1/embeddings'] : [])];
}

/** Errors: HttpError 401. */
export function mustBeAllowed(restrictions: readonly Restriction[], profile: OpenAiProfile, request: IncomingMessage): void {
  if (!profile.restrictedApis.value) return;
  const asked = `${request.method} ${request.url?.split('?')[0]}`;
  const found = restrictions.find(({ apis }) => apis.some((api) => endpoints(api, profile).some((endpoint) => asked.startsWith(endpoint))));
  if (found === undefined) return;
  // node:http gives header names in lower case; the value is compared exactly.
  const given = request.headers[found.header.toLowerCase()];
  if (given === found.value && given !== '') return;
  throw new HttpError(
    401,
    JSON.stringify({
      error: {
        message: `This API is restricted, expecting header '${found.header}' with valid value`,
        type: 'authentication_error',
        code: 'invalid_auth',
      },
    }),
  );
}
