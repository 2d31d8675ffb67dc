import type { Answer } from '#checks/laws/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { FLOAT32_RESOLUTION } from '#core/stats/index.ts';
import type { Noise } from './noise.ts';
import type { Comparison, Divergence } from './types.ts';

export interface CompareOptions {
  readonly tokenizer: Tokenizer;
  /** As measured on this target (noise.ts). */
  readonly noise: Noise;
  /** Margins explain greedy flips only; a sampled answer that parts is `unjudged`. */
  readonly sampled?: boolean;
  /** What belongs to other requests in flight: whole answers, and marks (words of theirs and of nobody else). */
  readonly foreign?: readonly { readonly request: string; readonly text?: string; readonly marks?: readonly string[] }[];
}

/** Every identical comparison is this one object: nothing to allocate for the usual case. */
export const IDENTICAL: Comparison = { verdict: 'identical', divergence: undefined, text: 'identical' };

/**
 * The verdict on an answer that took another token than the accepted one: noise only if the margin there is below
 * twice the measured noise and the other token is the accepted runner-up.
 */
export function judgeFlip(divergence: Divergence, options: CompareOptions): Comparison {
  const { margin, runnerUp, observedId, token } = divergence;
  const where = `token ${token}: ${nameToken(divergence.expectedId, options)} became ${nameToken(observedId, options)}`;
  if (options.sampled === true) return { verdict: 'unjudged', divergence, text: `${where}; margins do not judge sampled answers` };
  if (margin === undefined || runnerUp === undefined) return { verdict: 'unjudged', divergence, text: `${where}; no margins were served` };
  const bound = 2 * options.noise.e;
  const lead = `margin ${sayNumber(margin)}`;
  if (observedId !== undefined && observedId !== runnerUp) {
    return { verdict: 'unexplained', divergence, text: `${where}, which is not the runner-up (${nameToken(runnerUp, options)}, ${lead})` };
  }
  if (Math.abs(margin) < FLOAT32_RESOLUTION) return { verdict: 'tie', divergence, text: `${where}; ${lead}: a tie within float32` };
  if (margin < bound) return { verdict: 'near-tie', divergence, text: `${where}; ${lead} is below twice the noise (${sayNumber(bound)})` };
  return { verdict: 'unexplained', divergence, text: `${where}; ${lead} is not below twice the noise (${sayNumber(bound)})` };
}

/** What of another request this text holds, or undefined. */
export function findForeign(observed: string, expected: Answer, options: CompareOptions): string | undefined {
  for (const { request, text, marks = [] } of options.foreign ?? []) {
    if (text !== undefined && text !== '' && text !== expected.text && observed === text) return `the answer of ${request}`;
    const mark = marks.find((m) => m !== '' && observed.includes(m) && !expected.text.includes(m));
    if (mark !== undefined) return `${JSON.stringify(mark)} of ${request}`;
  }
  return undefined;
}

function nameToken(id: number | undefined, { tokenizer }: CompareOptions): string {
  if (id === undefined) return 'another token';
  if (tokenizer.specialIds.has(id)) return tokenizer.tokenText(id) ?? String(id);
  return `${id} ${JSON.stringify(tokenizer.decode([id]))}`;
}

function sayNumber(value: number): string {
  return value === 0 ? '0' : value.toPrecision(2);
}
