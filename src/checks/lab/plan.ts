import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';
import type { ChatMessage, Limits, Request, Sampling } from '#core/request/index.ts';
import { type Rng, rngFrom } from '#core/seed/index.ts';

/** A prompt of the pool; the tags say what its greedy answer was measured to do on the checkpoint it belongs to. */
export interface PoolPrompt {
  readonly name: string;
  readonly kind: string;
  readonly text?: string;
  readonly messages?: readonly ChatMessage[];
  /** The answer passes a position where two tokens are this close (docker/checkpoint/README.md). */
  readonly twin?: number;
  readonly eosAtOnce?: boolean;
  /** The answer has characters whose bytes are split over tokens. */
  readonly split?: boolean;
  /** The answer does not end by itself within 64 tokens. */
  readonly long?: boolean;
}

export type Tag = 'eosAtOnce' | 'split' | 'long' | 'twin';

/**
 * Where the suites draw their requests from: one seeded pool for every claim, drawn without knowledge of any fault.
 */
export interface Plan {
  readonly seed: number;
  readonly prompts: readonly PoolPrompt[];
  /** `count` prompts: a fair share of every kind, and of every tag that the pool has. */
  draw(label: string, count: number, only?: (p: PoolPrompt) => boolean): PoolPrompt[];
  rng(label: string): Rng;
}

export function makePlan(prompts: readonly PoolPrompt[], seed: number): Plan {
  return {
    seed,
    prompts,
    rng: (label) => rngFrom(seed, label),
    draw: (label, count, only = () => true) => {
      const groups = new Map<string, PoolPrompt[]>();
      for (const p of rngFrom(seed, `draw:${label}`).shuffle(prompts.filter(only))) {
        const key = groupOf(p);
        groups.set(key, [...(groups.get(key) ?? []), p]);
      }
      return roundRobin([...groups.values()], count);
    },
  };
}

export function requestOf(p: PoolPrompt, limits: Limits, suffix = '', sampling: Sampling = { kind: 'greedy' }): Request {
  return {
    id: `${p.name}${suffix}`,
    prompt: p.messages !== undefined ? { kind: 'messages', messages: p.messages } : { kind: 'text', text: p.text ?? '' },
    sampling,
    limits,
  };
}

const POOL = z
  .array(
    z
      .strictObject({
        name: z.string().regex(/^[\w.-]+$/, 'expected letters, digits, dots, dashes and underscores'),
        kind: z.string().min(1),
        text: z.string().exactOptional(),
        messages: z
          .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
          .min(1)
          .exactOptional(),
        twin: z.number().exactOptional(),
        eosAtOnce: z.boolean().exactOptional(),
        split: z.boolean().exactOptional(),
        long: z.boolean().exactOptional(),
      })
      .refine(({ text, messages }) => (text === undefined) !== (messages === undefined), 'expected either text or messages'),
  )
  .min(1);

/** A file of prompts. Errors: `pool-missing`, `pool-malformed`, with the entry and what was expected. */
export function readPool(path: string): readonly PoolPrompt[] {
  const parsed = POOL.safeParse(readJson(path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const [at, ...field] = issue?.path ?? [];
    const place = typeof at === 'number' ? `, entry ${at + 1}${field.length === 0 ? '' : ` (${field.join('.')})`}` : '';
    throw malformed(`${path}${place}: ${issue?.message.replace('Invalid input: ', '')}`);
  }
  const names = parsed.data.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return parsed.data;
  throw new LockstepError('pool-malformed', `${path}: two prompts have the name ${twice}`, {
    hint: 'Goldens are found by it; rename one.',
  });
}

function readJson(path: string): unknown {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === 'EISDIR') throw malformed(`${path}: it is a folder`);
    const hint = 'Correct --prompts, or make one with: lockstep init.';
    throw new LockstepError('pool-missing', code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path}: ${message}`, { hint });
  }
  const parsed = parseJson(bytes);
  if (parsed.text === undefined) throw malformed(`${path}:${parsed.line}:${parsed.column}: no JSON: ${parsed.problem}`);
  return parsed.value;
}

function malformed(text: string): LockstepError {
  return new LockstepError('pool-malformed', text, {
    hint: 'Each entry is {"name": …, "kind": …, "text": …}, or "messages" in place of "text".',
  });
}

function groupOf(p: PoolPrompt): string {
  if (p.twin !== undefined) return `twin ${p.twin}`;
  if (p.eosAtOnce) return 'eosAtOnce';
  if (p.split) return 'split';
  if (p.long) return 'long';
  return p.kind;
}

function roundRobin<T>(groups: readonly (readonly T[])[], count: number): T[] {
  const out: T[] = [];
  for (let round = 0; out.length < count; round++) {
    let any = false;
    for (const group of groups) {
      const item = group[round];
      if (item === undefined) continue;
      any = true;
      if (out.length < count) out.push(item);
    }
    if (!any) break;
  }
  return out;
}
