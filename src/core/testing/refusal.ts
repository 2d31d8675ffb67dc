import { LockstepError } from '#core/errors/index.ts';

/** `accepted`, the text of a refusal that has a next step, or `a defect: …`: what is no LockstepError would be shown with its stack. */
export function refusal(work: () => unknown): string {
  try {
    work();
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof LockstepError)) return `a defect: ${thrown instanceof Error ? thrown.stack : String(thrown)}`;
    if (thrown.hint === undefined) return `a defect: no next step: ${thrown.message}`;
    return thrown.message.length > 5000 ? 'a defect: a message without end' : thrown.message;
  }
}
