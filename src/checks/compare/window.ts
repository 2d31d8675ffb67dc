import { diffArrays } from 'diff';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** One side of a difference around the place where it begins. */
export interface WindowSide {
  readonly ids: readonly number[];
  /** Spelling of each id; special tokens by name. */
  readonly tokens: readonly string[];
  /** Decode of the ids shown. */
  readonly text: string;
  /** Index into `tokens` where the sides part. */
  readonly at: number;
}

export interface DiffWindow {
  readonly expected: WindowSide;
  readonly observed: WindowSide;
  /** Runs of tokens in order; empty when the sides have so little in common that a diff would only confuse. */
  readonly changes: readonly { readonly kind: 'same' | 'removed' | 'added'; readonly tokens: readonly string[] }[];
}

const RADIUS = 8;

/**
 * The tokens around a divergence. Answers that part stay different, the worst case for Myers' algorithm (seconds for
 * 4,096 ids), so only ±8 tokens are compared, and with a bounded edit length.
 */
export function windowAround(expected: ArrayLike<number>, observed: ArrayLike<number>, at: number, tokenizer: Tokenizer): DiffWindow {
  const left = side(expected, at, tokenizer);
  const right = side(observed, at, tokenizer);
  const changes = (diffArrays([...left.tokens], [...right.tokens], { maxEditLength: 2 * RADIUS }) ?? []).slice();
  // Of a replacement the expected side comes first, whichever way the search found it.
  for (let i = 1; i < changes.length; i++) {
    const [a, b] = [changes[i - 1], changes[i]];
    if (a?.added && b?.removed) [changes[i - 1], changes[i]] = [b, a];
  }
  return {
    expected: left,
    observed: right,
    changes: changes.map((c) => ({ kind: c.added ? 'added' : c.removed ? 'removed' : 'same', tokens: c.value })),
  };
}

function side(all: ArrayLike<number>, at: number, tokenizer: Tokenizer): WindowSide {
  const from = Math.max(0, at - RADIUS);
  const ids: number[] = [];
  for (let i = from; i < Math.min(all.length, at + RADIUS + 1); i++) ids.push(all[i] as number);
  return { ids, tokens: ids.map((id) => spell(id, tokenizer)), text: tokenizer.decode(ids), at: Math.min(at - from, ids.length) };
}

function spell(id: number, tokenizer: Tokenizer): string {
  const text = tokenizer.tokenText(id);
  if (text === undefined) return `<${id}?>`;
  if (tokenizer.specialIds.has(id)) return text;
  const decoded = tokenizer.decode([id]);
  return decoded.includes('\ufffd') ? `<${id}>` : decoded;
}
