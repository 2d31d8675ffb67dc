import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer } from '#checks/laws/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import {
  type CompareOptions,
  NO_NOISE,
  POLICIES,
  VERDICTS,
  compareIds,
  compareText,
  failsUnder,
  firstDivergence,
  measureNoise,
  tally,
  windowAround,
} from './index.ts';

const tokenizer = loadTokenizer('docker/checkpoint/tiny');
const encode = (text: string) => tokenizer.encode(text, { addSpecialTokens: false });
const one = (text: string) => {
  const ids = encode(text);
  if (ids.length !== 1) throw new Error(`${text} is ${ids.length} tokens`);
  return ids[0] as number;
};
const RED = one(' red');
const BLUE = one(' blue');
const EOS = 1;
const HEAD = encode('I like the');

/** "I like the red." with EOS; the margin at " red" and its runner-up are given. */
function accepted(margin: number, runnerUp = BLUE, finish: Answer['finish'] = 'eos'): Answer {
  const ids = [...HEAD, RED, one('.')];
  const steps = ids.length + (finish === 'eos' ? 1 : 0);
  return {
    promptIds: [0, 4, 5],
    ids,
    text: tokenizer.decode(ids),
    finish,
    margins: Array.from({ length: steps }, (_, k) => (k === HEAD.length ? margin : 5)),
    runnerUps: Array.from({ length: steps }, (_, k) => (k === HEAD.length ? runnerUp : 200)),
    logProbs: ids.map(() => -0.1),
  };
}

const options: CompareOptions = { tokenizer, noise: { e: 0.05, positions: 100 } };
const flipped = [...HEAD, BLUE, one('.')];
const AT = HEAD.length;

describe('ids', () => {
  test('part at the first difference, or where one ends', () => {
    expect([
      firstDivergence([1, 2, 3], [1, 2, 3]),
      firstDivergence([1, 2], [1, 3]),
      firstDivergence([1, 2], [1]),
      firstDivergence([], []),
    ]).toEqual([-1, 1, 1, -1]);
  });

  test.each([
    ['tie', 0, BLUE],
    ['near-tie', 0.0999, BLUE],
    ['unexplained', 0.1001, BLUE],
    ['unexplained', 0.01, one(' pear')],
  ])('are judged %s at margin %f', (verdict, margin, runnerUp) => {
    const found = compareIds(accepted(margin, runnerUp), { ids: flipped, finish: 'eos' }, options);
    expect(found).toMatchObject({
      verdict,
      divergence: { token: AT, char: 'I like the'.length, expectedId: RED, observedId: BLUE, margin, runnerUp },
    });
    expect(found.text).toContain('" red" became');
  });

  test('without margins, or sampled, are unjudged', () => {
    const bare = { ...accepted(0), margins: [], runnerUps: [] };
    expect(compareIds(bare, { ids: flipped }, options).verdict).toBe('unjudged');
    expect(compareIds(accepted(0), { ids: flipped }, { ...options, sampled: true }).verdict).toBe('unjudged');
  });

  test('that stop early or late are structural, except where EOS was the runner-up', () => {
    const answer = accepted(0.01, EOS);
    expect(compareIds(answer, { ids: HEAD, finish: 'eos' }, options).verdict).toBe('near-tie');
    expect(compareIds(answer, { ids: HEAD }, options).verdict).toBe('structural');
    expect(compareIds(answer, { ids: HEAD, finish: 'length' }, options).verdict).toBe('structural');
    expect(compareIds(accepted(5, BLUE, 'length'), { ids: [...accepted(5).ids, 9] }, options).verdict).toBe('structural');
    const late = { ...accepted(5), margins: accepted(5).margins.with(-1, 0.01), runnerUps: accepted(5).runnerUps.with(-1, 9) };
    expect(compareIds(late, { ids: [...late.ids, 9], finish: 'eos' }, options)).toMatchObject({
      verdict: 'near-tie',
      divergence: { expectedId: EOS, observedId: 9 },
    });
  });

  test('out of range, EOS in sight, another end or a text that is not theirs are structural', () => {
    const answer = accepted(0);
    expect(compareIds(answer, { ids: [...HEAD, 512] }, options).verdict).toBe('structural');
    expect(compareIds(answer, { ids: [...HEAD, -1] }, options).verdict).toBe('structural');
    expect(compareIds(answer, { ids: [...answer.ids, EOS] }, options).verdict).toBe('structural');
    expect(compareIds(answer, { ids: answer.ids, finish: 'length' }, options).verdict).toBe('structural');
    expect(compareIds(answer, { ids: answer.ids, text: 'I like the  red.' }, options)).toMatchObject({
      verdict: 'structural',
      divergence: { char: 11 },
    });
  });

  test('of another request are contaminated, whatever the margin', () => {
    const foreign = [{ request: 'colours-07', text: tokenizer.decode(flipped) }];
    expect(compareIds(accepted(0), { ids: flipped }, { ...options, foreign })).toMatchObject({ verdict: 'contaminated' });
    const marks = [{ request: 'colours-07', marks: ['blue'] }];
    expect(compareIds(accepted(0), { ids: flipped }, { ...options, foreign: marks }).verdict).toBe('contaminated');
    expect(compareIds(accepted(0), { ids: accepted(0).ids }, { ...options, foreign: marks }).verdict).toBe('identical');
  });

  test('are identical to themselves and to nothing else', () => {
    const ids = fc.array(fc.integer({ min: 6, max: 511 }), { maxLength: 30 });
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const answer: Answer = { ...accepted(5), ids: a, text: tokenizer.decode(a), margins: [], runnerUps: [] };
        expect(compareIds(answer, { ids: b }, options).verdict === 'identical').toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });
});

describe('text', () => {
  test.each([
    ['tie', 0, BLUE, 'I like the blue.'],
    ['near-tie', 0.09, BLUE, 'I like the blue and more'],
    ['unexplained', 0.11, BLUE, 'I like the blue.'],
    ['unexplained', 0.01, one(' pear'), 'I like the blue.'],
    ['near-tie', 0.01, EOS, 'I like the'],
    ['structural', 0.01, BLUE, 'I like the'],
    ['unexplained', 0.01, EOS, 'I like the blue'],
    ['identical', 0.01, BLUE, 'I like the red.'],
  ])('is judged %s at margin %f', (verdict, margin, runnerUp, observed) => {
    expect(compareText(accepted(margin, runnerUp), observed, options).verdict).toBe(verdict);
  });

  test('finds the token that holds the differing character', () => {
    expect(compareText(accepted(0), 'I like the blue.', options).divergence).toMatchObject({
      token: AT,
      char: 11,
      expectedId: RED,
      observedId: BLUE,
      margin: 0,
    });
  });

  test('finds a flip inside a character of several tokens', () => {
    const sun = encode('日');
    const moon = encode('本');
    const at = sun.findIndex((id, k) => id !== moon[k]);
    const answer: Answer = {
      ...accepted(5),
      ids: sun,
      text: '日',
      margins: sun.map((_, k) => (k === at ? 0.01 : 5)).concat(5),
      runnerUps: sun.map((_, k) => (k === at ? (moon[k] as number) : 200)).concat(200),
    };
    expect(compareText(answer, '本', options)).toMatchObject({ verdict: 'near-tie', divergence: { token: at } });
  });

  test('that goes on after the limit, or holds foreign words, is no noise', () => {
    expect(compareText(accepted(0, BLUE, 'length'), 'I like the red. And', options).verdict).toBe('structural');
    expect(compareText(accepted(0), 'I like the blue.', { ...options, foreign: [{ request: 'x', marks: ['blue'] }] }).verdict).toBe(
      'contaminated',
    );
  });

  test('of chunks decoded alone is compared in its own form', () => {
    const ids = [...HEAD, ...encode('日'), RED];
    const answer: Answer = {
      ...accepted(5),
      ids,
      text: tokenizer.decode(ids),
      margins: ids.map((_, k) => (k === ids.length - 1 ? 0 : 5)).concat(5),
      runnerUps: ids.map(() => BLUE).concat(200),
    };
    const alone = (list: readonly number[]) => list.map((id) => tokenizer.decode([id])).join('');
    expect(compareText(answer, alone(ids), { ...options, form: 'chunk-alone' }).verdict).toBe('identical');
    expect(compareText(answer, alone(ids.with(-1, BLUE)), { ...options, form: 'chunk-alone' })).toMatchObject({
      verdict: 'tie',
      divergence: { token: ids.length - 1 },
    });
    expect(compareText(answer, alone(ids), options).verdict).not.toBe('identical');
  });

  test('behind a prompt has a space more where SentencePiece made it, and is compared in that form', () => {
    const spm = loadTokenizer('docker/checkpoint/tiny-spm');
    const ids = (text: string) => spm.encode(text, { addSpecialTokens: false });
    const [red, blue] = [ids('red'), ids('blue')].flat() as [number, number];
    const head = ids('I like the');
    const answer: Answer = {
      ...accepted(0),
      promptIds: ids('[INST] red or blue? [/INST]'),
      ids: [...head, red],
      text: 'I like the red',
      margins: [...head.map(() => 5), 0, 5],
      runnerUps: [...head.map(() => 200), blue, 200],
    };
    const behind = (text: string) => compareText(answer, text, { ...options, tokenizer: spm, form: 'after-prompt' });
    expect(behind(' I like the red').verdict).toBe('identical');
    expect(behind(' I like the blue')).toMatchObject({ verdict: 'tie', divergence: { token: head.length } });
    expect(behind('I like the red').verdict).not.toBe('identical');
  });

  test('agrees with the verdict on ids for any single flip to the runner-up', () => {
    const id = fc.integer({ min: 6, max: 511 });
    fc.assert(
      fc.property(fc.array(id, { minLength: 1, maxLength: 12 }), fc.nat(), id, fc.boolean(), (ids, place, other, near) => {
        const at = place % ids.length;
        const answer: Answer = {
          ...accepted(5),
          ids,
          text: tokenizer.decode(ids),
          finish: 'length',
          margins: ids.map((_, k) => (k === at ? (near ? 0.05 : 2) : 9)),
          runnerUps: ids.map((_, k) => (k === at ? other : 0)),
        };
        const observed = ids.with(at, other);
        const text = tokenizer.decode(observed);
        // Bytes that are no characters all look alike in text: there only the ids can tell.
        // A runner-up that spells the beginning of the same text parts from it later than it flips: text alone cannot tell.
        fc.pre(!answer.text.startsWith(tokenizer.decode(observed.slice(0, at + 1))));
        fc.pre(text !== answer.text && !text.includes('\ufffd') && !answer.text.includes('\ufffd'));
        expect(compareText(answer, text, options).verdict).toBe(compareIds(answer, { ids: observed }, options).verdict);
      }),
    );
  });
});

describe('noise', () => {
  test('is the largest change where the ids before were equal, never below float32', () => {
    const run = (ids: number[], logProbs: number[]) => ({ ids, logProbs });
    expect(measureNoise([[run([1, 2, 3], [-1, -2, -3]), run([1, 2, 4], [-1, -2.03125, -9])]])).toEqual({ e: 0.03125, positions: 2 });
    expect(measureNoise([[run([1], [-1]), run([1], [-1.000001])]])).toEqual({ e: 2e-5, positions: 1 });
    expect(measureNoise([])).toEqual(NO_NOISE);
  });
});

describe('policy', () => {
  test('exact forgives nothing, margins forgives ties and what cannot be judged', () => {
    const forgiven = (id: keyof typeof POLICIES) => VERDICTS.filter((v) => !failsUnder(POLICIES[id], v));
    expect(forgiven('exact')).toEqual(['identical']);
    expect(forgiven('margins')).toEqual(['identical', 'tie', 'near-tie', 'unjudged']);
  });

  test('counts what many comparisons found', () => {
    const same = compareIds(accepted(0), { ids: accepted(0).ids }, options);
    const tie = compareIds(accepted(0), { ids: flipped }, options);
    const found = tally([...Array.from({ length: 59 }, () => same), tie]);
    expect(found).toMatchObject({ n: 60, worst: 'tie', counts: { identical: 59, tie: 1, 'near-tie': 0 } });
  });
});

describe('window', () => {
  test('shows eight tokens on both sides of the place and the tokens that changed', () => {
    const long = Array.from({ length: 30 }, (_, k) => one(String.fromCharCode(65 + (k % 26))));
    const shown = windowAround(long, long.with(15, BLUE), 15, tokenizer);
    expect(shown.expected).toMatchObject({ at: 8, text: 'HIJKLMNOPQRSTUVWX' });
    expect(shown.observed).toMatchObject({ at: 8, text: 'HIJKLMNO blueQRSTUVWX' });
    expect(shown.changes.filter((c) => c.kind !== 'same').map((c) => [c.kind, ...c.tokens])).toEqual([
      ['removed', 'P'],
      ['added', ' blue'],
    ]);
  });

  test('is quick for answers of thousands of tokens that stay different', () => {
    const a = Array.from({ length: 100_000 }, (_, i) => 6 + (i % 250));
    const b = a.map((id, i) => (i < 50_000 ? id : 511 - id));
    expect(windowAround(a, b, 50_000, tokenizer).observed.at).toBe(8);
    expect(windowAround([1], [], 0, tokenizer).observed).toEqual({ ids: [], tokens: [], text: '', at: 0 });
  });
});
