import { randomUUID } from 'node:crypto';
import type { Lab } from '#checks/lab/lab.ts';
import type { Request } from '#core/request/index.ts';

/** Cold means never seen by this server, so the words at the front are new in every run; they stand in the report. */
const NONCE = randomUUID().slice(0, 8);

/**
 * A prompt long enough to fill several KV blocks (16 to 64 tokens each), whose first block no other request shares.
 */
export function coldPrompt(lab: Lab, i: number): Request {
  const parts = lab.plan.draw(`cold-${i}`, 6).map((p) => p.text ?? p.messages?.at(-1)?.content ?? '');
  return {
    id: `cold-${NONCE}-${i}`,
    prompt: { kind: 'text', text: `${NONCE} ${i}. ${parts.join(' ')}` },
    sampling: { kind: 'greedy' },
    limits: { maxTokens: 16 },
  };
}
