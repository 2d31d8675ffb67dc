import { FLAG } from '#core/transcript/index.ts';
import { dataEvents, hasFlag, isEmptyEvent, isRaw, isStream, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('count-limit');

export const countLimit: Law = {
  id: 'count-limit',
  statement: 'No answer has more tokens than max_tokens.',
  routes: 'all',
  applies: (t) => isRaw(t) || t.usage !== undefined || (isStream(t) && t.events > 0),
  check(t) {
    const max = t.case.request.limits.maxTokens;
    if (isRaw(t) && t.ids.length > max)
      return [broken('ids', `${t.ids.length} ids were served, at most ${max} were asked for`, { token: max })];
    if (t.usage !== undefined && t.usage.completionTokens > max) {
      return [broken('usage', `usage counts ${t.usage.completionTokens} tokens, at most ${max} were asked for`)];
    }
    if (isRaw(t) || !isStream(t)) return [];
    // An event with text holds at least one token.
    const events = dataEvents(t).filter((event) => !isEmptyEvent(t, event) && !hasFlag(t, event, FLAG.role));
    return events.length <= max
      ? []
      : [broken('events', `${events.length} events carry text, at most ${max} tokens were asked for`, { event: events[max] as number })];
  },
};
