import { type Case, type Request, describeCase } from '#core/request/index.ts';
import type { CaseView } from './result.ts';
import { coldOf } from './cold.ts';
import type { Lab } from './lab.ts';
import { quoted } from './replay-command.ts';

/** The command that repeats a claim, narrowed to one request where there is one. */
export function replayOf(lab: Lab, claimId: string, request?: Request): string {
  const known =
    request !== undefined &&
    (coldOf(request.id) !== undefined || lab.plan.prompts.some(({ name }) => request.id === name || request.id.startsWith(`${name}-`)));
  return `${lab.parts.replayBase} ${claimId}${known ? ` --only ${quoted(request.id)}` : ''}`;
}

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
