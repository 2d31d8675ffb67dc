import { basename, dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { type GoldenStore, openGoldenStore } from '#checks/goldens/index.ts';
import { sha256 } from '#core/hash/index.ts';
import type { Request } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { type Plan, type PoolPrompt, makePlan, readPool, requestOf } from './plan.ts';

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
 * The prompts to draw from: `prompts.json` beside the tokenizer, written for that checkpoint, or the general ones for a
 * checkpoint that nobody wrote prompts for.
 */
export function promptPool(tokenizer: Tokenizer): readonly PoolPrompt[] {
  const own = readPool(join(tokenizer.dir, 'prompts.json'));
  return own.length > 0 ? own : readPool(GENERAL_PROMPTS);
}

/** What `goldens record` asks: every prompt of the pool, and prompts that share their tail but not their beginning. */
export function goldenRequests(prompts: readonly PoolPrompt[]): Request[] {
  return [...prompts.map((p) => requestOf(p, { maxTokens: MAX_TOKENS })), ...sharedTails(makePlan(prompts, 1))];
}

/**
 * Equal text behind different beginnings of equal length: block reuse must not take one for the other
 * (NVIDIA/TensorRT-LLM#8813 shows what it looks like when it does).
 */
function sharedTails(plan: Plan): Request[] {
  const tail = plan.draw('shared-tail', 6).map((p) => p.text ?? p.messages?.at(-1)?.content ?? '').join(' ');
  const beginnings = ['Anna saw red', 'Oskar ate tea', 'Karin was sad', 'Göran sat up', 'Lucie ran on', 'Íris had ten'];
  return beginnings.map((beginning, i) => {
    // Filled up to the same number of characters, so that the tails tend to fall into the same blocks.
    const text = `${beginning.repeat(6).slice(0, 64)}. ${tail}`;
    return { id: `shared-tail-${i + 1}`, prompt: { kind: 'text', text }, sampling: { kind: 'greedy' }, limits: { maxTokens: 24 } };
  });
}

/** The identity that the accepted answers were recorded on; undefined when there are none yet. */
export function recordedIdentity(store: GoldenStore): Readonly<Record<string, string>> | undefined {
  if (!store.list().includes(GREEDY)) return undefined;
  const [first] = store.load(GREEDY).values();
  return first === undefined ? undefined : store.provenance(first)?.identity;
}
