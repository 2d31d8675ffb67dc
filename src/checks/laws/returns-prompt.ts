import type { ReleaseProfile } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';

/** Whether answers of this route that are not streamed begin with the prompt: the front end does not ask to leave it out. */
export function returnsPrompt(route: RouteId, { openai }: ReleaseProfile): boolean {
  if (route === 'openai-chat') return !openai.chatExcludesInput.value;
  return route === 'openai-completions' && !openai.completionsExcludeInput.value;
}
