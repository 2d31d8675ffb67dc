import { basename, dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { type GoldenStore, openGoldenStore } from '#checks/goldens/index.ts';
import { sha256 } from '#core/hash/index.ts';
import type { Request } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { type PoolPrompt, readPool, requestOf } from './plan.ts';

/** The suite of accepted greedy answers. */
export const GREEDY = 'greedy';

/** Plain and awkward texts that suit any model: questions, lists, other scripts, emoji, white space, code. */
const GENERAL_PROMPTS = join(import.meta.dirname, 'general-prompts.json');

/** Room for most answers to end by themselves, and for the long ones to be cut. */
const MAX_TOKENS = 48;

export function goldenStore(of: { readonly goldensDir: string; readonly tokenizer: Tokenizer }): GoldenStore {
  const { dir, hash } = of.tokenizer;
  const weights = join(dir, 'model.safetensors');
  return openGoldenStore({
    root: of.goldensDir,
    checkpoint: checkpointName(dir),
    tokenizerHash: hash,
    ...(existsSync(weights) ? { weightsHash: sha256(readFileSync(weights)) } : {}),
  });
}

/** `tiny` for …/checkpoint/tiny; the folder above where the tokenizer's own folder is just called that. */
function checkpointName(dir: string): string {
  const name = basename(dir);
  return name === 'tokenizer' ? basename(dirname(dir)) : name;
}

/**
 * The prompts to draw from: those of the file that the run names, or `prompts.json` beside the tokenizer, written for that checkpoint, or the general ones for a
 * checkpoint that nobody wrote prompts for.
 */
export function promptPool(tokenizer: Tokenizer, file?: string): readonly PoolPrompt[] {
  const own = join(tokenizer.dir, 'prompts.json');
  return readPool(file ?? (existsSync(own) ? own : GENERAL_PROMPTS));
}

/** What `goldens record` asks: every prompt of the pool, and prompts that share their tail but not their beginning. */
export function goldenRequests(prompts: readonly PoolPrompt[]): Request[] {
  return [...prompts.map((p) => requestOf(p, { maxTokens: MAX_TOKENS })), ...sharedTails()];
}

/** Kind of the goldens that share their tails; one of them alone shows nothing. */
export const SHARED_TAIL = 'shared-tail';

/**
 * 32 tokens each with BOS, by the tokenizer of the tiny checkpoint: two blocks of 16 or one of 32, so that behind every
 * one of them a tail fills the same blocks with the same ids.
 */
const BEGINNINGS = [
  'Mia had a white frog. A band played. We open the school.',
  'Göran had a brown cat. Many people came. Mia ate a melon.',
  'Oskar is the mayor of Oslo. Many people came. The cat ate a plum.',
];

/** Longer than two blocks of 16, and so odd that the answer hangs on every token before it. */
const TAILS = [
  ' Name three colours. Count from 3 to 9. Write cat in Japanese. Repeat: Oslo Lund Bern. Sing la for',
  ' Count from 2 to 7. Emoji for frog? Name two colours. Repeat: Bern Oslo. Write river in Japanese. Sing na for',
];

/**
 * Every tail behind every beginning: a server that takes one block for the other, because it forgets what is before it,
 * has both from other prompts by the time the last ones are asked (NVIDIA/TensorRT-LLM#8813 shows what that looks like).
 */
function sharedTails(): Request[] {
  const texts = BEGINNINGS.flatMap((beginning, b) => TAILS.map((_, t) => beginning + TAILS[(b + t) % TAILS.length]!));
  return texts.map((text, i) => ({
    id: `${SHARED_TAIL}-${i + 1}`,
    prompt: { kind: 'text', text },
    sampling: { kind: 'greedy' },
    limits: { maxTokens: 24 },
  }));
}

/** The identities that the accepted answers in use were recorded on; none when there are no goldens yet. */
export function recordedIdentities(store: GoldenStore): readonly Readonly<Record<string, string>>[] {
  if (!store.list().includes(GREEDY)) return [];
  const recordings = new Map([...store.load(GREEDY).values()].map((golden) => [golden.recorded, golden]));
  return [...recordings.values()].map((golden) => store.provenance(golden)?.identity ?? {});
}
