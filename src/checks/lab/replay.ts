import { type Case, describeCase } from '#core/request/index.ts';
import type { CaseView } from '#report/types.ts';

/** The part of a case that a report shows. */
export function viewOf(c: Case): CaseView {
  const { prompt } = c.request;
  const text =
    prompt.kind === 'text'
      ? prompt.text
      : prompt.kind === 'ids'
        ? `[${prompt.ids.join(', ')}]`
        : prompt.messages.map((m) => `${m.role}: ${m.content}`).join(' · ');
  return {
    label: describeCase(c),
    route: c.route,
    mode: c.mode,
    request: c.request.id,
    prompt: text.length > 120 ? `${text.slice(0, 117)}…` : text,
  };
}
