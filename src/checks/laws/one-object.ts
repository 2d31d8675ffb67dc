import { answered, isStream, OPENAI_ROUTES, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('one-object');

/** Source: OpenAI's API reference, the objects of completions and of chat completions. */
export const oneObject: Law = {
  id: 'one-object',
  statement: 'Everything that an OpenAI route answers with is an object of the kind of its endpoint.',
  routes: OPENAI_ROUTES,
  applies: answered,
  check(t) {
    const right = t.case.route === 'openai-completions' ? 'text_completion' : isStream(t) ? 'chat.completion.chunk' : 'chat.completion';
    if (t.objects.length === 1 && t.objects[0] === right) return [];
    return [
      broken('kind', `the answer consists of ${t.objects.join(' and ') || 'objects that do not say what they are'}, not of ${right}`),
    ];
  },
};
