import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { PoolPrompt } from '#checks/lab/plan.ts';
import { settled } from '#checks/lab/settled.ts';
import type { Request } from '#core/request/index.ts';

/** As many clients as stopped a server within a minute (triton-inference-server/tensorrtllm_backend#149). */
const CLIENTS = 40;
/** Each is held to it, so that none leaves its slot before the others have come. */
const TOKENS = 12;

/**
 * Many more requests than slots, all with an end id, and every prompt with quotes that are escaped twice: what froze whole
 * batches (triton-inference-server/tensorrtllm_backend#114), and what overran a queue
 * (triton-inference-server/tensorrtllm_backend#392).
 */
export const beyondTheSlots: Claim = {
  id: 'beyond-the-slots',
  suite: 'determinism',
  statement: `${CLIENTS} requests at once, with end ids and escaped quotes, all get the answer that they get alone, however few slots there are.`,
  routes: ['raw'],
  laws: ['batch-invariance', 'answers-at-all', 'server-survives'],
  async run(lab): Promise<Outcome> {
    const asked = lab.plan.draw('beyond-the-slots', 8).map(quoted);
    const truths = await inParallel(asked, 1, (request) => lab.truth(request));
    const rows = Array.from({ length: CLIENTS }, (_, i) => i);
    const transcripts = await settled(
      rows.map((i) => lab.run({ request: asked[i % asked.length]!, route: 'raw', mode: lab.mode, repeat: Math.floor(i / asked.length) })),
    );
    const cases = transcripts.map((transcript, i): Compared => ({ transcript, truth: truths[i % asked.length]! }));
    return compared(lab, beyondTheSlots.id, 'batch-invariance', cases, `answers, ${CLIENTS} at once`);
  },
};

function quoted({ name, text, messages }: PoolPrompt): Request {
  return {
    id: `${name}-quoted`,
    prompt: { kind: 'text', text: JSON.stringify(JSON.stringify(text ?? messages?.at(-1)?.content ?? '')) },
    sampling: { kind: 'greedy' },
    limits: { maxTokens: TOKENS, minTokens: TOKENS },
  };
}
