import { expect, test } from 'vitest';
import { rngFrom } from '#core/seed/index.ts';
import { BeamSearch, type BeamSearchOptions, penalized } from './beam-search.ts';
import { logSumExp } from './shaper.ts';

const EOS = 0;

/** A language of `vocab` ids: logits that follow from the ids before, and from nothing else. */
function language(seed: number, vocab: number): (ids: readonly number[]) => Float64Array {
  return (ids) => {
    const rng = rngFrom(seed, ids.join());
    return Float64Array.from({ length: vocab }, () => rng.float() * 4);
  };
}

function search(logitsAfter: (ids: readonly number[]) => Float64Array, options: Partial<BeamSearchOptions>) {
  const full: BeamSearchOptions = {
    width: 2,
    returned: options.width ?? 2,
    lengthPenalty: 0,
    earlyStopping: true,
    diversityRate: 0,
    endId: EOS,
    maxTokens: 4,
    stops: () => false,
    ...options,
  };
  const beams = new BeamSearch(full);
  let steps = 0;
  for (; beams.finish === undefined; steps++) {
    const { live } = beams;
    beams.step(
      (b) => logitsAfter(live[b]!.ids),
      () => undefined,
    );
  }
  return { ranked: beams.ranked(), steps, finish: beams.finish };
}

interface Sentence {
  readonly ids: readonly number[];
  readonly cumLogProb: number;
  readonly score: number;
}

/** Every sentence of the language up to `depth` ids: ended by EOS, or cut. */
function sentences(logitsAfter: (ids: readonly number[]) => Float64Array, depth: number, lengthPenalty: number): Sentence[] {
  const grow = (ids: readonly number[], cumLogProb: number): Sentence[] => {
    if (ids.length === depth) return [{ ids, cumLogProb, score: penalized(cumLogProb, depth, lengthPenalty) }];
    const logits = logitsAfter(ids);
    const base = logSumExp(logits);
    return [...logits].flatMap((logit, id) => {
      const sum = cumLogProb + logit - base;
      if (id === EOS) return [{ ids, cumLogProb: sum, score: penalized(sum, ids.length + 1, lengthPenalty) }];
      return grow([...ids, id], sum);
    });
  };
  return grow([], 0).toSorted((a, b) => b.score - a.score);
}

test.each([0, 0.5, 1, 2])('as wide as the language it finds the best sentences of all, length penalty %d', (lengthPenalty) => {
  for (let seed = 0; seed < 20; seed++) {
    const logitsAfter = language(seed, 4);
    // 3 · 3 · 3 sentences are cut at three ids; as many beams hold every beginning.
    const { ranked } = search(logitsAfter, { width: 27, maxTokens: 3, lengthPenalty, earlyStopping: false });
    const all = sentences(logitsAfter, 3, lengthPenalty);
    expect(ranked.map(({ ids }) => ids)).toEqual(all.slice(0, 27).map(({ ids }) => ids));
    ranked.forEach(({ cumLogProb }, i) => expect(cumLogProb).toBeCloseTo(all[i]!.cumLogProb, 12));
  }
});

test('one beam of no penalty is greedy, and its log-probabilities add up', () => {
  for (let seed = 0; seed < 20; seed++) {
    const logitsAfter = language(seed, 6);
    const [only] = search(logitsAfter, { width: 1, endId: -1, maxTokens: 8 }).ranked;
    const greedy: number[] = [];
    while (greedy.length < 8) {
      const logits = logitsAfter(greedy);
      greedy.push(logits.indexOf(Math.max(...logits)));
    }
    expect(only!.ids).toEqual(greedy);
    expect(only!.logProbs.reduce((a, b) => a + b)).toBeCloseTo(only!.cumLogProb, 12);
  }
});

/** Logits from probabilities, by the ids before; what is not named is as good as impossible. */
const table = (rows: Readonly<Record<string, readonly number[]>>) => (ids: readonly number[]) =>
  Float64Array.from((rows[ids.join()] ?? [1, 1, 1]).map((p) => Math.log(Math.max(p, 1e-12))));

test('early stopping ends with the width; without it a better sentence that is longer still wins', () => {
  const rows = table({
    '': [0.4, 0.6, 0],
    '1': [0.3, 0.7, 0],
    '1,1': [0.05, 0.95, 0],
    '1,1,1': [0.99, 0.01, 0],
  });
  const early = search(rows, { lengthPenalty: 1, maxTokens: 6 });
  expect([early.steps, early.ranked.map(({ ids }) => ids.length)]).toEqual([2, [1, 0]]);
  const patient = search(rows, { lengthPenalty: 1, maxTokens: 6, earlyStopping: false });
  // log(0.6 · 0.7 · 0.95 · 0.99) / 4 = -0.232 beats log(0.6 · 0.3) / 2 and log(0.4).
  expect(patient.ranked.map(({ ids }) => ids.length)).toEqual([3, 1]);
});

test('a length penalty prefers the longer one of two', () => {
  const rows = table({ '': [0.5, 0.5, 0], '1': [0.6, 0.4, 0], '1,1': [1, 0, 0] });
  const lengths = (lengthPenalty: number) => search(rows, { lengthPenalty, maxTokens: 3 }).ranked.map(({ ids }) => ids.length);
  expect(lengths(0)).toEqual([0, 1]);
  expect(lengths(2)).toEqual([1, 0]);
});

test('the diversity rate favours beams of a higher index, and no score holds it', () => {
  const rows = table({ '': [0, 0.6, 0.4], '1': [0, 0.5, 0.5], '2': [0, 0.5, 0.5] });
  const ids = (diversityRate: number) => search(rows, { endId: -1, maxTokens: 2, diversityRate }).ranked.map((beam) => beam.ids.join());
  expect(ids(0)).toEqual(['1,1', '1,2']);
  expect(ids(0.5)).toEqual(['2,1', '2,2']);
  const [best] = search(rows, { endId: -1, maxTokens: 2, diversityRate: 0.5 }).ranked;
  expect(best!.cumLogProb).toBeCloseTo(Math.log(0.4 * 0.5), 10);
});

test('ties go to the lower beam and then to the lower id', () => {
  const even = () => new Float64Array(4);
  expect(search(even, { endId: -1, maxTokens: 2, width: 3 }).ranked.map(({ ids }) => ids.join())).toEqual(['0,0', '0,1', '0,2']);
});

test('EOS beyond the first `width` candidates ends nothing', () => {
  const rows = table({ '': [0.1, 0.5, 0.4], '1': [0.1, 0.5, 0.4], '2': [0.1, 0.5, 0.4] });
  const { ranked, finish } = search(rows, { maxTokens: 2 });
  expect([finish, ranked.map(({ ids }) => ids.length)]).toEqual(['length', [2, 2]]);
});

test('a stop word ends its beam and stays; `returned` cuts what is told', () => {
  const rows = table({ '': [0, 0.6, 0.4] });
  const { ranked } = search(rows, { width: 2, returned: 1, maxTokens: 5, stops: (ids) => ids.at(-1) === 1 });
  expect(ranked).toHaveLength(1);
  expect(ranked[0]!.ids).toEqual([1]);
});
