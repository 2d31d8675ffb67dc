/** The server that the benches of both ends talk to, and the request they send. */
import { STOCK_MODELS, type RouteContext } from '#checks/routes/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import type { Case } from '#core/request/index.ts';
import { EMBEDDED_DEFAULTS, type EmbeddedOptions } from '#embedded/options.ts';
import { startEmbeddedTarget } from '#targets/embedded/index.ts';
import type { Target } from '#targets/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';

/** The longest answer that leaves room for a prompt in max_seq_len 512 is near 500; this is a long answer. */
export const ANSWER_IDS = 400;
export const IN_FLIGHT = 8;
/** About a second per round and side here. */
export const REQUESTS = 192;

export function startServer(engine: EmbeddedOptions['engine']): Promise<Target> {
  return startEmbeddedTarget({
    server: { ...EMBEDDED_DEFAULTS, engine },
  });
}

/** What the route `raw` needs to ask that server. */
export function contextOf(clients: RouteContext['clients']): RouteContext {
  return { clients, tokenizer: loadTokenizer(TINY_CHECKPOINT), profile: DEFAULT_PROFILE, models: STOCK_MODELS };
}

/** One of eight prompts; the scripted engine's answers follow from the ids. */
export function streamCase(prompt: number, maxTokens = ANSWER_IDS): Case {
  const ids = [0, 4, ...Array.from({ length: 14 }, (_, i) => 6 + ((prompt * 61 + i * 37) % 500))];
  return {
    request: { id: `load-${prompt}`, prompt: { kind: 'ids', ids }, sampling: { kind: 'greedy' }, limits: { maxTokens, stopAtEos: false } },
    route: 'raw',
    mode: 'stream',
    repeat: 0,
  };
}

/** Runs `count` pieces of work, `lanes` at a time; adds up what they give. */
export async function inLanes(lanes: number, count: number, work: (i: number) => Promise<number>): Promise<number> {
  let next = 0;
  let sum = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < count) {
        const got = await work(next++);
        sum += got;
      }
    }),
  );
  return sum;
}
