/** /openapi.json as far as clients look: who it is and which paths there are. Source: FastAPI's own defaults. */
import type { Route } from '../fastapi/index.ts';

export function openApi<App>(routes: readonly Route<App>[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { path, method } of routes) {
    const name = path.source.slice(1, -1).replaceAll('\\', '');
    if (name !== '/openapi.json')
      paths[name] = { ...paths[name], [method.toLowerCase()]: { responses: { '200': { description: 'Successful Response' } } } };
  }
  return { openapi: '3.1.0', info: { title: 'FastAPI', version: '0.1.0' }, paths };
}
