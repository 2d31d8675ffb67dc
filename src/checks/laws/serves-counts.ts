import type { ReleaseProfile } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { OPENAI_ROUTES } from './observed.ts';

/** Whether answers of this route say how many tokens prompt and answer had. */
export function servesCounts(route: RouteId, { models, openai }: ReleaseProfile): boolean {
  return OPENAI_ROUTES.includes(route) ? openai.tokenCounts.value : models.returnsTokenCounts.value;
}
