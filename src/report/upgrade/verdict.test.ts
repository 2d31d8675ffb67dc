import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AnsweredRequest } from '#checks/answers/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { JsonReport } from '../json-schema.ts';
import { judgeUpgrade, readPolicy, type Side, upgradeMarkdown } from './index.ts';

const tokenizer = loadTokenizer(TINY_CHECKPOINT);
const folder = mkdtempSync(join(tmpdir(), 'lockstep-policy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sixteen ordinary tokens, each with a comfortable margin but the one that is given. */
function item(
  n: number,
  change: { readonly at?: number; readonly id?: number; readonly margin?: number; readonly shift?: number } = {},
): AnsweredRequest {
  const { at = -1, id = 0, margin = 4, shift = 0 } = change;
  const ids = Array.from({ length: 16 }, (_, i) => (i === at ? id : 40 + i));
  const answer = {
    promptIds: [1],
    ids,
    text: tokenizer.decode(ids),
    finish: 'length' as const,
    margins: ids.map((_, i) => (i === 9 ? margin : 4)),
    runnerUps: ids.map(() => 99),
    logProbs: ids.map((_, i) => -0.5 - shift * ((i % 5) / 5)),
  };
  return {
    request: { id: `r${n}`, prompt: { kind: 'text', text: 'a' }, sampling: { kind: 'greedy' }, limits: { maxTokens: 16 } },
    kind: 'any',
    answer,
    repeats: [
      {
        ids: Array.from({ length: 16 }, (_, i) => (i === at ? id : 40 + i)),
        finish: 'length',
        firstTokenMs: 10,
        betweenTokensMs: 1,
        tokensPerSecond: 1000,
      },
    ],
  };
}

const claim = (id: string, status: 'held' | 'failed' | 'not-served') => ({
  ...{ id, suite: 's', statement: 'it holds', file: 'f', routes: [], laws: ['l'], status },
  ...{ evidence: { n: 1, k: 0, unit: 'cases', notes: [] }, gaps: [], gapsGone: [], durationMs: 1 },
  failures: status === 'failed' ? [{ law: 'l', code: 'c', text: 'it broke' }] : [],
});

const run = (claims: readonly ReturnType<typeof claim>[], gaps: readonly string[] = []): JsonReport =>
  ({
    ...{ schema: 1, startedAt: '', durationMs: 1, outcome: 'held', identityDifferences: [], gapsGone: [], units: [], errors: [], claims },
    counts: { held: claims.length, failed: 0, notServed: 0, gapsMet: 0, unitPassed: 0, unitFailed: 0 },
    gaps: gaps.map((id) => ({ id, law: 'l', thread: 't', met: 1 })),
  }) as unknown as JsonReport;

const items = (make: (n: number) => AnsweredRequest): readonly AnsweredRequest[] => Array.from({ length: 24 }, (_, n) => make(n));

const side = (name: string, more: Partial<Side> = {}): Side => ({
  ...{ name, recordedAt: '', identity: {}, missing: [] },
  contract: { observations: [], skipped: [] },
  answers: { notServed: '', margins: true, items: items((n) => item(n, { margin: 0.01 })) },
  run: run([claim('a', 'held')]),
  ...more,
});

const judge = (to: Partial<Side>, policy = readPolicy(), from: Partial<Side> = {}) =>
  judgeUpgrade(side('old', from), side('new', to), { policy, tokenizer, at: '' });
const reasons = (to: Partial<Side>) =>
  judge(to)
    .findings.filter(({ weight }) => weight !== 'note')
    .map(({ kind }) => kind);
const answers = (make: (n: number) => AnsweredRequest, margins = true): Partial<Side> => ({
  answers: { notServed: '', margins, items: items(make) },
});

describe('a verdict', () => {
  test('is SAFE where everything was compared and nothing changed', () => {
    const upgrade = judge({});
    expect([upgrade.verdict, upgrade.findings]).toEqual(['SAFE', []]);
    expect(upgradeMarkdown(upgrade)).toMatch(/^# SAFE: old → new\n\nAll 24 answers are the same/);
  });

  test.each(['contract', 'answers', 'run'] as const)('is REVIEW where %s was not compared', (part) => {
    expect(judge({ [part]: undefined }).verdict).toBe('REVIEW');
    expect(reasons({ [part]: undefined })).toEqual(['not-compared']);
  });

  test('explains a flip to the runner-up at a margin below twice what the numbers moved', () => {
    expect(
      reasons(answers((n) => item(n, n === 0 ? { at: 9, id: 99, margin: 0.01, shift: 0.02 } : { margin: 0.01, shift: 0.02 }))),
    ).toEqual(['answers-explained']);
  });

  test.each([
    ['at a margin that is not', { at: 3, id: 99 }],
    ['to another than the runner-up', { at: 9, id: 98, margin: 0.01 }],
  ])('is UNSAFE for a flip %s', (_, change) => {
    const to = answers((n) => item(n, { margin: 0.01, shift: 0.02, ...(n === 0 ? change : {}) }));
    expect(reasons(to)).toContain('answers-wrong');
    expect(judge(to).verdict).toBe('UNSAFE');
  });

  test('is UNSAFE where all numbers moved further than rounding does, though no answer differs', () => {
    expect(reasons(answers((n) => item(n, { margin: 0.01, shift: 2 })))).toEqual(['answers-wrong']);
  });

  test('judges nothing without margins, or with log-probabilities that are all 0', () => {
    const flipped = (n: number) => item(n, n === 0 ? { at: 9, id: 99, margin: 0.01 } : {});
    expect(reasons(answers(flipped, false))).toEqual(['answers-unjudged']);
    const zero = answers((n) => {
      const one = flipped(n);
      return { ...one, answer: { ...one.answer, logProbs: one.answer.logProbs.map(() => 0) } };
    });
    expect(reasons(zero)).toEqual(['answers-unjudged']);
  });

  test('tells laws and gaps on both sides apart', () => {
    const from = { run: run([claim('a', 'held'), claim('b', 'failed'), claim('c', 'held'), claim('d', 'not-served')], ['old', 'both']) };
    const to = { run: run([claim('a', 'failed'), claim('b', 'held'), claim('c', 'not-served'), claim('d', 'held')], ['new', 'both']) };
    const { findings, verdict, runs } = judge(to, readPolicy(), from);
    expect(verdict).toBe('UNSAFE');
    expect(findings.map(({ kind }) => kind)).toEqual([
      'law-newly-broken',
      'claim-not-served-any-more',
      'gap-new',
      'law-mended',
      'claim-newly-served',
      'gap-fixed',
      'gap-still',
    ]);
    expect(findings[0]!.text).toBe('claim s/a fails now: it broke');
    expect([runs!.judged, runs!.held]).toEqual([2, 0]);
  });

  test('calls what is slower by more than the limit slower, and what is not shown not shown', () => {
    const slow = (factor: (n: number) => number) =>
      answers((n) => {
        const one = item(n, { margin: 0.01 });
        return { ...one, repeats: one.repeats.map((repeat) => ({ ...repeat, firstTokenMs: 10 * factor(n) })) };
      });
    expect(reasons(slow(() => 1.5))).toEqual(['slower']);
    expect(judge(slow((n) => (n % 2 === 0 ? 0.5 : 2))).findings.map(({ kind }) => kind)).toEqual(['speed-not-shown']);
    expect(judge(slow(() => 1.1)).verdict).toBe('SAFE');
  });
});

describe('a policy', () => {
  const written = (text: string): string => {
    const path = join(folder, 'policy.json');
    writeFileSync(path, text);
    return path;
  };

  test('of one’s own weighs as it says', () => {
    const own = readPolicy();
    const strict = readPolicy(written(JSON.stringify({ ...own, findings: { ...own.findings, 'not-compared': 'UNSAFE' } })));
    expect(judge({ run: undefined }, strict).verdict).toBe('UNSAFE');
  });

  test.each([
    ['{', /policy-unreadable/],
    ['{"findings": {}, "limits": {}}', /policy-unreadable/],
    [JSON.stringify({ ...readPolicy(), findings: { ...readPolicy().findings, slower: 'perhaps' } }), /findings\.slower/],
  ])('%s is refused', (text, error) => {
    expect(() => readPolicy(written(text))).toThrow(error);
  });
});
