import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Golden } from '#checks/goldens/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { PACKAGE_ROOT, SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import type { Limits, Request } from '#core/request/index.ts';
import { rngFrom } from '#core/seed/index.ts';
import { createLlamaEngine } from '#embedded/engine/index.ts';
import { answer, makeRequest } from '#embedded/engine/testing.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { acceptedAnswers } from './accepted-answer.ts';
import { goldenStore } from './goldens.ts';

const CHECKPOINTS = { tiny: TINY_CHECKPOINT, 'tiny-spm': SPM_CHECKPOINT };

describe.each(Object.entries(CHECKPOINTS))('%s', (_, checkpoint) => {
  const tokenizer = loadTokenizer(checkpoint);
  const goldens = [
    ...goldenStore({ goldensDir: join(PACKAGE_ROOT, 'goldens'), tokenizer })
      .load('greedy')
      .values(),
  ];
  const accepted = acceptedAnswers(goldens, tokenizer);
  const engine = createLlamaEngine({ checkpoint, maxRequests: 16 });
  afterAll(() => engine.close());

  /** What the engine says, without the goldens. */
  async function asked(promptIds: readonly number[], limits: Limits): Promise<Pick<Answer, 'ids' | 'finish'>> {
    const stopWords = (limits.stopWords ?? []).map((word) => tokenizer.encode(word, { addSpecialTokens: false }));
    const { ids, finish } = await answer(
      engine,
      makeRequest(promptIds, {
        maxTokens: limits.maxTokens,
        minTokens: limits.minTokens ?? 0,
        endId: limits.stopAtEos === false ? -1 : (tokenizer.eosId as number),
        stopWords,
      }),
    );
    return { ids, finish: finish as Answer['finish'] };
  }

  /** Limits at and around every place where an answer can end, and phrases that end it there, begin in the prompt, or lie in it. */
  function limitsFor({ answer: { ids, promptIds } }: Golden, rng: ReturnType<typeof rngFrom>): Limits {
    const at = rng.int(0, Math.max(0, ids.length - 1));
    const phrases = [
      tokenizer.decode(ids.slice(at, at + rng.int(1, 3))),
      tokenizer.decode(ids.slice(-rng.int(1, 3))),
      tokenizer.decode([...promptIds.slice(-1), ...ids.slice(0, 1)]),
      tokenizer.decode(promptIds.slice(-2)),
      'nowhere to be found',
    ].filter((phrase) => phrase !== '' && !phrase.includes('\ufffd'));
    const around = (n: number) => rng.pick([1, at + 1, n - 1, n, n + 1, 48, 56].filter((one) => one > 0));
    return {
      maxTokens: around(ids.length),
      ...(rng.int(0, 2) === 0 && phrases.length > 0
        ? { stopWords: [rng.pick(phrases), ...(rng.int(0, 1) === 0 ? [rng.pick(phrases)] : [])] }
        : {}),
      ...(rng.int(0, 3) === 0 ? { minTokens: rng.pick([0, 1, at + 1, ids.length, ids.length + 1]) } : {}),
      ...(rng.int(0, 3) === 0 ? { stopAtEos: false } : {}),
    };
  }

  test('goldens of one prompt: the one that tells most, and none in which EOS was held back', () => {
    const [one] = goldens.filter(({ answer: { finish, ids } }) => finish === 'eos' && ids.length > 2);
    const { request, answer: whole } = one as Golden;
    const made = (limits: Limits, change: Partial<Answer>): Golden => ({
      ...(one as Golden),
      request: { ...request, limits },
      answer: { ...whole, ...change },
    });
    const cut = made({ maxTokens: whole.ids.length }, { finish: 'length' });
    const ask = (...from: Golden[]) => acceptedAnswers(from, tokenizer)(request);
    expect(ask(cut)).toBeUndefined();
    expect(ask(cut, one as Golden)).toEqual(whole);
    expect(ask(one as Golden, cut)).toEqual(whole);
    const ids = [...whole.ids, 7, 7, 7];
    expect(ask(made({ maxTokens: 48, minTokens: ids.length }, { ids }))).toBeUndefined();
    expect(ask(one as Golden, made({ maxTokens: 48, stopAtEos: false }, { ids }))).toEqual(whole);
  });

  test('whatever the limits, what goldens tell is what the engine answers', async () => {
    const rng = rngFrom(5, 'accepted');
    const cases = rng.shuffle(goldens).slice(0, 80);
    const ends = { eos: 0, length: 0, 'stop-words': 0, untold: 0 };
    await Promise.all(
      cases.map(async (golden, i) => {
        const limits = limitsFor(golden, rng);
        // Another text of the same ids would do as well.
        const request: Request = {
          id: `${i}`,
          prompt: { kind: 'ids', ids: golden.answer.promptIds },
          sampling: { kind: 'greedy' },
          limits,
        };
        const told = accepted(request);
        ends[told?.finish ?? 'untold']++;
        if (told === undefined) return;
        const right = await asked(golden.answer.promptIds, limits);
        expect({ limits, ids: told.ids, finish: told.finish }).toEqual({ limits, ...right });
        expect(told.text).toBe(tokenizer.decode(told.ids, { skipSpecialTokens: true }));
        expect(told.margins).toHaveLength(told.ids.length + (told.finish === 'eos' ? 1 : 0));
        expect(told.logProbs).toHaveLength(told.ids.length);
      }),
    );
    // None of the ends is left out, and most answers are told.
    for (const n of Object.values(ends)) expect(n).toBeGreaterThan(3);
    expect(ends.untold).toBeLessThan(cases.length / 2);
  });
});
