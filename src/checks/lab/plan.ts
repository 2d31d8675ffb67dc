import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
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

/** Reads a pool file. Errors: `pool-malformed`. */
export function readPool(path: string): readonly PoolPrompt[] {
  if (!existsSync(path)) return [];
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PoolPrompt[];
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw new LockstepError('pool-malformed', `${path} is not a list of prompts: ${code === 'EISDIR' ? 'it is a folder' : message}`, {
      hint: 'Correct the name, or the file: each entry is {"name": …, "kind": …, "text": …}, or "messages" in place of "text".',
      cause: thrown,
    });
  }
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

/** A file that the user named and may have written. Errors: `pool-missing`, `pool-malformed`, with the entry and what was expected. */
export function readNamedPool(path: string): readonly PoolPrompt[] {
  if (!existsSync(path)) {
    throw new LockstepError('pool-missing', `there is no file ${path}`, { hint: 'Correct --prompts, or make one with: lockstep init.' });
  }
  const parsed = POOL.safeParse(readPool(path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path[0];
    throw new LockstepError(
      'pool-malformed',
      `${path}: ${typeof at === 'number' ? `entry ${at + 1}${issue?.path.length === 1 ? '' : ` (${issue?.path.slice(1).join('.')})`}: ` : ''}${issue?.message}`,
      { hint: 'Each entry is {"name": …, "kind": …, "text": …}, or "messages" in place of "text".' },
    );
  }
  const names = parsed.data.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return parsed.data;
  throw new LockstepError('pool-malformed', `${path}: two prompts have the name ${twice}`, {
    hint: 'Goldens are found by it; rename one.',
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
