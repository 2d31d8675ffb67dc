import { type Cold, coldId } from '#checks/lab/cold.ts';
import type { Lab } from '#checks/lab/lab.ts';
import type { Request } from '#core/request/index.ts';

/**
 * A prompt long enough to fill several KV blocks (16 to 64 tokens each), whose first block no other request shares: the
 * nonce, which is new in every run, stands at its front.
 */
export function coldPrompt(lab: Lab, cold: Cold): Request {
  const parts = lab.plan.draw(`cold-${cold.i}`, 6).map((p) => p.text ?? p.messages?.at(-1)?.content ?? '');
  return {
    id: coldId(cold),
    prompt: { kind: 'text', text: `${cold.nonce} ${cold.i}. ${parts.join(' ')}` },
    sampling: { kind: 'greedy' },
    limits: { maxTokens: 16 },
  };
}
