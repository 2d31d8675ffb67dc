import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_PROFILE, IDEAL_PROFILE, profileOf } from '#core/profile/index.ts';
import { type Case, type Limits, type Mode, type Prompt, ROUTE_IDS, type RouteId } from '#core/request/index.ts';
import { FLAG, type Transcript, idsOfEvent } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Answer, ENGINE_RAN_ON, GAPS, LAWS, type LawContext, answerOf, answerOn, gapFor, judge, law } from './index.ts';
import { TRTLLM_SERVE_GAPS } from './trtllm-serve-gaps.ts';
import { rightTranscript } from './right-transcript.ts';

const tokenizer = loadTokenizer('docker/checkpoint/tiny');
const BLUE = tokenizer.encode(' blue', { addSpecialTokens: false });
const SUN = tokenizer.encode('日', { addSpecialTokens: false });
const HELLO = tokenizer.encode('I like red', { addSpecialTokens: false });
const PROMPT: Prompt = { kind: 'messages', messages: [{ role: 'user', content: 'red or blue?' }] };
const PROMPT_IDS = tokenizer.encode(tokenizer.applyChatTemplate(PROMPT.messages, { addGenerationPrompt: true }), {
  addSpecialTokens: false,
});

function answer(ids: readonly number[], finish: Answer['finish'], numbers = true): Answer {
  const steps = ids.length + (finish === 'eos' ? 1 : 0);
  return {
    promptIds: PROMPT_IDS,
    ids,
    text: tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish,
    margins: numbers ? Array.from({ length: steps }, (_, k) => k + 0.5) : [],
    runnerUps: numbers ? Array.from({ length: steps }, (_, k) => ((ids[k] ?? 7) + 1) % 512) : [],
    logProbs: numbers ? ids.map((_, k) => -0.25 * (k + 1)) : [],
  };
}

function caseOf(route: RouteId, mode: Mode, limits: Limits): Case {
  return { request: { id: 'colours-01', prompt: PROMPT, sampling: { kind: 'greedy' }, limits }, route, mode, repeat: 0 };
}

function context(truth: Answer | undefined, more: Partial<LawContext> = {}): LawContext {
  return { tokenizer, profile: IDEAL_PROFILE, truth, ...more };
}

function right(route: RouteId, mode: Mode, truth: Answer, limits: Partial<Limits> = {}, profile = IDEAL_PROFILE): Transcript {
  const maxTokens = truth.finish === 'length' ? truth.ids.length : 64;
  return rightTranscript(caseOf(route, mode, { maxTokens, ...limits }), truth, tokenizer, profile);
}

const ordinary = fc.integer({ min: 6, max: 511 });
const anyRoute = fc.constantFrom(...ROUTE_IDS);
const anyMode = fc.constantFrom<Mode>('stream', 'unary');
const anyAnswer = fc.oneof(
  fc.array(ordinary, { maxLength: 20 }).map((ids) => ({ truth: answer(ids, 'eos'), limits: {} })),
  fc.array(ordinary, { minLength: 1, maxLength: 20 }).map((ids) => ({ truth: answer(ids, 'length'), limits: {} })),
  fc
    .array(
      ordinary.filter((id) => id !== BLUE.at(-1)),
      { maxLength: 20 },
    )
    .map((ids) => ({
      truth: answer([...ids, ...BLUE], 'stop-words'),
      limits: { stopWords: [' blue'] },
    })),
);

describe('a right server', () => {
  test('keeps every law, whatever the answer', () => {
    fc.assert(
      fc.property(anyAnswer, anyRoute, anyMode, ({ truth, limits }, route, mode) => {
        const t = right(route, mode, truth, limits);
        const judgement = judge([t], LAWS, context(truth, { reference: t, foreignMarks: ['zebra'] }));
        expect(judgement.violations.map((b) => b.violation)).toEqual([]);
        expect(judgement.gapsMet).toEqual([]);
        expect(judgement.gapsGone).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test('shows only known gaps when it behaves like the default release', () => {
    fc.assert(
      fc.property(anyAnswer, anyRoute, anyMode, ({ truth, limits }, route, mode) => {
        const t = right(route, mode, truth, limits, DEFAULT_PROFILE);
        const judgement = judge([t], LAWS, context(truth, { profile: DEFAULT_PROFILE }));
        expect(judgement.violations.map((b) => b.violation)).toEqual([]);
        expect(judgement.gapsGone).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test('exercises every law somewhere', () => {
    const truths = [answer(HELLO, 'eos'), answer(HELLO, 'length'), answer([...HELLO, ...BLUE], 'stop-words')];
    const exercised = new Set<string>();
    for (const truth of truths)
      for (const route of ROUTE_IDS)
        for (const [mode, words] of [
          ['stream', [' blue']],
          ['unary', [' blue']],
          ['unary', []],
        ] as const) {
          const limits = { ...(mode === 'stream' ? { minTokens: 2 } : {}), stopWords: words };
          const t = right(route, mode, truth, limits);
          const reference = route === 'bls' ? right('ensemble', mode, truth, limits) : t;
          const judged = judge(
            [t, { ...withoutLast(t), ending: 'cancelled' }],
            LAWS,
            context(truth, { reference, foreignMarks: ['zebra'] }),
          );
          for (const [id, n] of judged.exercised) if (n > 0) exercised.add(id);
        }
    expect([...exercised].sort()).toEqual(LAWS.map((l) => l.id).sort());
  });
});

/** Law, code, and a transcript that breaks it so. */
type Breakage = readonly [lawId: string, code: string, t: Transcript, context: LawContext];

const eos = answer(HELLO, 'eos');
const cut = answer(HELLO, 'length');
const stopped = answer([...HELLO, ...BLUE], 'stop-words');
const sun = answer([...HELLO, ...SUN], 'eos');
const rawEos = right('raw', 'stream', eos);
const rawCut = right('raw', 'stream', cut);
const chat = right('openai-chat', 'stream', eos);
const completion = right('openai-completions', 'unary', eos);
const ensemble = right('ensemble', 'stream', eos);
const torchStopped = right('llmapi', 'stream', stopped, { stopWords: [' blue'] });
const bls = right('bls', 'stream', eos);
const N = HELLO.length;

const withFlags = (t: Transcript, event: number, flags: number): Transcript => ({
  ...t,
  flags: t.flags.map((f, i) => (i === event ? flags : f)),
});
/** The same events, but this token's id is another. */
const withId = (t: Transcript, k: number, id: number): Transcript => ({ ...t, ids: t.ids.map((x, i) => (i === k ? id : x)) });
/** What another answer's stream looks like under this case. */
const served = (route: RouteId, mode: Mode, other: Answer, as: Transcript): Transcript => ({ ...right(route, mode, other), case: as.case });
const withoutLast = (t: Transcript): Transcript => ({
  ...t,
  events: t.events - 1,
  flags: t.flags.slice(0, -1),
  idEnd: t.idEnd.slice(0, -1),
  textEnd: t.textEnd.slice(0, -1),
  atNs: t.atNs.slice(0, -1),
});
const withTail = (t: Transcript, flags: number): Transcript => ({
  ...t,
  events: t.events + 1,
  flags: Uint8Array.from([...t.flags, flags]),
  idEnd: Int32Array.from([...t.idEnd, t.ids.length]),
  textEnd: Int32Array.from([...t.textEnd, t.text.length]),
  atNs: Float64Array.from([...t.atNs, t.endedNs]),
});
const withText = (t: Transcript, text: string): Transcript => ({
  ...t,
  text,
  textEnd: t.textEnd.map((e, i) => (i === t.events - 1 ? text.length : Math.min(e, text.length))),
});

const BREAKAGES: readonly Breakage[] = [
  ['answers-at-all', 'error', { ...rawEos, ending: 'broken', errors: [{ event: -1, code: 'INTERNAL', message: 'no' }] }, context(eos)],
  ['answers-at-all', 'no-end', { ...rawEos, ending: 'deadline' }, context(eos)],
  ['answers-at-all', 'cut', { ...chat, ending: 'broken' }, context(eos)],
  [
    'answers-at-all',
    'no-data',
    withTail(
      { ...rawEos, events: 0, flags: new Uint8Array(), idEnd: new Int32Array(), textEnd: new Int32Array(), atNs: new Float64Array() },
      FLAG.final,
    ),
    context(eos),
  ],
  ['framing', 'cut', { ...chat, ending: 'broken' }, context(eos)],
  ['framing', 'no-end', { ...ensemble, ending: 'deadline' }, context(eos)],
  ['request-id-echoed', 'foreign-id', { ...rawEos, foreignIds: ['other-7'] }, context(eos)],
  ['one-object', 'kind', { ...completion, objects: ['text_completion', 'chat.completion.chunk'] }, context(eos)],
  ['one-object', 'kind', { ...chat, objects: [] }, context(eos)],
  ['final-flag-once', 'no-final', withFlags(rawEos, N, FLAG.data), context(eos)],
  ['final-flag-once', 'several-finals', withFlags(rawEos, 0, FLAG.data | FLAG.final), context(eos)],
  ['final-flag-once', 'after-final', withTail(rawEos, FLAG.data), context(eos)],
  ['done-marker', 'missing', withoutLast(chat), context(eos)],
  ['done-marker', 'several', withTail(chat, FLAG.done), context(eos)],
  ['done-marker', 'not-last', withTail(chat, 0), context(eos)],
  ['role-first', 'missing', withFlags(chat, 0, FLAG.data), context(eos)],
  ['role-first', 'several', withFlags(chat, 1, FLAG.data | FLAG.role), context(eos)],
  ['role-first', 'not-first', withFlags(withFlags(chat, 0, FLAG.data), 1, FLAG.role), context(eos)],
  ['finish-reason-true', 'missing', { ...completion, finishReasons: [] }, context(eos)],
  [
    'finish-reason-true',
    'several',
    { ...completion, finishReasons: [...completion.finishReasons, ...completion.finishReasons] },
    context(eos),
  ],
  ['finish-reason-true', 'early', { ...chat, finishReasons: [{ event: 1, reason: 'stop' }] }, context(eos)],
  ['finish-reason-true', 'wrong', completion, context(cut)],
  ['finish-reason-true', 'wrong', right('llmapi', 'stream', eos), context(cut)],
  ['prompt-ids', 'count', { ...completion, usage: { promptTokens: 3, completionTokens: N } }, context(eos)],
  ['usage-counts', 'count', { ...completion, usage: { promptTokens: PROMPT_IDS.length, completionTokens: N + 1 } }, context(eos)],
  ['usage-counts', 'count', { ...ensemble, usage: { promptTokens: PROMPT_IDS.length, completionTokens: N + 1 } }, context(eos)],
  ['prompt-ids', 'count', { ...rawEos, usage: { promptTokens: 0, completionTokens: N } }, context(eos)],
  ['usage-counts', 'missing', { ...completion, usage: undefined }, context(eos)],
  ['ids-in-vocabulary', 'out-of-range', withId(rawEos, 1, -1), context(eos)],
  ['ids-in-vocabulary', 'out-of-range', withId(rawEos, 1, 512), context(eos)],
  ['sequence-lengths-true', 'wrong', { ...rawEos, sequenceLengths: rawEos.sequenceLengths.map((n, i) => n + i) }, context(eos)],
  ['sequence-lengths-true', 'missing', { ...rawEos, sequenceLengths: new Int32Array() }, context(eos)],
  ['deltas-equal-whole', 'ids', withId(rawEos, 2, 77), context(eos)],
  ['deltas-equal-whole', 'ids', served('raw', 'stream', answer([...HELLO, HELLO.at(-1) as number], 'eos'), rawEos), context(eos)],
  ['deltas-equal-whole', 'text', withText(ensemble, 'Ilikered'), context(eos)],
  ['text-is-true-decode', 'text', withText(completion, 'red or blue?I like red'), context(eos)],
  ['eos-ending', 'eos-visible', withId(rawEos, N - 1, 1), context(eos)],
  ['eos-ending', 'no-empty-end', served('raw', 'stream', cut, rawEos), context(eos)],
  ['eos-ending', 'no-empty-end', served('ensemble', 'stream', cut, ensemble), context(eos)],
  ['eos-ending', 'empty-not-final', withFlags(ensemble, N, FLAG.data), context(eos)],
  [
    'eos-ending',
    'several-empty',
    withTail({ ...rawEos, sequenceLengths: Int32Array.from([...rawEos.sequenceLengths, 0]) }, FLAG.data | FLAG.final),
    context(eos),
  ],
  ['eos-ending', 'length-not-zero', { ...rawEos, sequenceLengths: rawEos.sequenceLengths.map(() => 1) }, context(eos)],
  ['length-ending', 'too-few', served('raw', 'stream', answer(HELLO.slice(1), 'length'), rawCut), context(cut)],
  ['length-ending', 'too-many', served('raw', 'stream', answer([...HELLO, 9], 'length'), rawCut), context(cut)],
  ['length-ending', 'empty-end', served('raw', 'stream', eos, rawCut), context(cut)],
  ['length-ending', 'empty-end', served('openai-chat', 'stream', eos, chat), context(cut)],
  ['length-ending', 'last-not-final', withFlags(rawCut, N - 1, FLAG.data), context(cut)],
  ['stop-words', 'ran-past', right('raw', 'stream', answer([...HELLO, ...BLUE, 9, 10], 'eos'), { stopWords: [' blue'] }), context(stopped)],
  ['stop-words', 'no-phrase', right('raw', 'stream', eos, { stopWords: [' blue'] }), context(stopped)],
  [
    'stop-words',
    'ran-past',
    right('ensemble', 'stream', answer([...HELLO, ...BLUE, ...HELLO], 'eos'), { stopWords: [' blue'] }),
    context(stopped),
  ],
  ['stop-words', 'no-phrase', right('generate', 'unary', eos, { stopWords: [' blue'] }), context(stopped)],
  ['stop-words', 'empty-end', right('raw', 'stream', answer(stopped.ids, 'eos'), { stopWords: [' blue'] }), context(stopped)],
  [
    'stop-words',
    'last-not-final',
    withFlags(right('raw', 'stream', stopped, { stopWords: [' blue'] }), stopped.ids.length - 1, FLAG.data),
    context(stopped),
  ],
  ['stop-words', 'phrase-shown', withText(torchStopped, 'I like red bl'), context(stopped)],
  ['stop-words', 'phrase-shown', withText(torchStopped, 'I like red blue'), context(stopped)],
  ['stop-words', 'ran-past', withText(torchStopped, 'I like red blue.'), context(stopped)],
  ['stop-words', 'no-phrase', withText(torchStopped, 'I like'), context(stopped)],
  ['count-limit', 'ids', right('raw', 'unary', eos, { maxTokens: N - 1 }), context(eos)],
  ['count-limit', 'usage', right('openai-chat', 'unary', eos, { maxTokens: N - 1 }), context(eos)],
  ['count-limit', 'events', right('generate', 'stream', eos, { maxTokens: N - 1 }), context(eos)],
  ['min-tokens', 'too-few', right('raw', 'stream', eos, { minTokens: N + 1 }), context(eos)],
  ['min-tokens', 'too-few', right('openai-completions', 'unary', eos, { minTokens: N + 1 }), context(eos)],
  ['no-empty-event', 'no-ids', withFlags(withTail(rawCut, FLAG.data | FLAG.final), N - 1, FLAG.data), context(cut)],
  ['no-empty-event', 'no-text', { ...ensemble, textEnd: ensemble.textEnd.map((e, i) => (i === 0 ? 0 : e)) }, context(eos)],
  ['no-broken-utf8', 'replacement-character', right('ensemble', 'stream', sun, {}, DEFAULT_PROFILE), context(sun)],
  ['no-control-text', 'special-token', withText(completion, 'I like red<|eos|>'), context(eos)],
  ['greedy-is-argmax', 'not-argmax', { ...rawEos, winners: rawEos.winners.map((w, k) => (k === 1 ? w + 1 : w)) }, context(eos)],
  ['greedy-is-argmax', 'margin', { ...rawEos, margins: rawEos.margins.map(() => Number.NaN) }, context(eos)],
  ['greedy-is-argmax', 'steps', { ...rawEos, margins: rawEos.margins.slice(2) }, context(eos)],
  ['log-probs-real', 'zero', { ...rawEos, logProbs: rawEos.logProbs.map(() => 0), cumLogProb: 0 }, context(eos)],
  ['log-probs-real', 'count', { ...rawEos, logProbs: rawEos.logProbs.slice(1) }, context(eos)],
  ['log-probs-real', 'not-a-log-probability', { ...rawEos, logProbs: rawEos.logProbs.map((v) => -v) }, context(eos)],
  ['log-probs-real', 'sum', { ...rawEos, cumLogProb: -0.25 }, context(eos)],
  ['log-probs-real', 'of-other-ids', { ...rawEos, logProbs: rawEos.logProbs.toReversed() }, context(eos)],
  ['same-ids', 'ids', withId(rawEos, 1, 77), context(eos, { reference: rawEos })],
  ['same-text', 'text', withText(completion, 'I like Red'), context(eos, { reference: completion })],
  ['bls-is-ensemble', 'text', withText(bls, 'I like Red'), context(eos, { reference: ensemble })],
  [
    'bls-is-ensemble',
    'parts',
    { ...bls, textEnd: bls.textEnd.map((e, i) => (i === 0 ? e + 1 : e)) },
    context(eos, { reference: ensemble }),
  ],
  [
    'ends-alike',
    'ends-later',
    right('bls', 'stream', eos, { stopWords: ['x'] }),
    context(eos, { reference: right('ensemble', 'stream', cut) }),
  ],
  [
    'ends-alike',
    'ends-sooner',
    withText(right('bls', 'unary', eos, { stopWords: ['x'] }), 'I like'),
    context(eos, { reference: right('ensemble', 'unary', eos) }),
  ],
  ['texts-only-grow', 'taken-back', right('bls-accumulate', 'stream', { ...sun, ids: SUN, text: '日' }, {}, DEFAULT_PROFILE), context(sun)],
  ['no-contamination', 'foreign-word', completion, context(undefined, { foreignMarks: ['red'] })],
  ['no-contamination', 'foreign-word', rawEos, context(undefined, { foreignMarks: ['red'] })],
  ['cancel-stops', 'whole-answer', rawEos, context(eos, { cancelAfter: 1 })],
  ['cancel-stops', 'whole-answer', ensemble, context(eos, { cancelAfter: 1 })],
  ['cancel-stops', 'not-a-beginning', { ...withId(withoutLast(rawEos), 1, 77), ending: 'cancelled' }, context(eos)],
  [
    'cancel-stops',
    'not-a-beginning',
    { ...withText(withoutLast(chat), 'I like blue'), ending: 'cancelled', flags: chat.flags.slice(0, -1) },
    context(eos),
  ],
];

describe('a broken server', () => {
  test.each(BREAKAGES)('breaks %s with %s', (id, code, t, own) => {
    const found = judge([t], [law(id)], own);
    expect(found.violations.map((b) => `${b.violation.law} ${b.violation.code}`)).toEqual([`${id} ${code}`]);
    expect(found.violations[0]?.violation.text).toMatch(/^\S.{10,}/u);
  });

  test('is tried for every law', () => {
    expect([...new Set(BREAKAGES.map(([id]) => id))].sort()).toEqual(LAWS.map((l) => l.id).sort());
  });
});

describe('known gaps', () => {
  const withDefault = (truth: Answer) => context(truth, { profile: DEFAULT_PROFILE });

  test('explain a stream whose chunks are decoded alone, by exactly that text', () => {
    const t = right('ensemble', 'stream', sun, {}, DEFAULT_PROFILE);
    expect(t.text).toBe('I like red���');
    const judged = judge([t], LAWS, withDefault(sun));
    expect(judged.violations).toEqual([]);
    expect(judged.gapsMet.map((g) => [g.id, g.met])).toEqual([
      ['chunk-decoded-alone', 1],
      ['chunk-decoded-alone-characters', 1],
    ]);
    const other = judge([withText(t, 'I like red��')], [law('deltas-equal-whole')], withDefault(sun));
    expect(other.violations).toHaveLength(1);
  });

  test('do not explain a merged or a lost chunk', () => {
    const t = right('ensemble', 'stream', sun, {}, DEFAULT_PROFILE);
    const moved = { ...t, textEnd: t.textEnd.map((e, i) => (i === 0 ? e + 1 : e)) };
    expect(judge([moved], [law('deltas-equal-whole')], withDefault(sun)).violations).toHaveLength(1);
  });

  test('explain "stop" at the length limit, and no other word', () => {
    const t = right('openai-chat', 'stream', cut, {}, DEFAULT_PROFILE);
    expect(judge([t], [law('finish-reason-true')], withDefault(cut)).gapsMet).toMatchObject([{ id: 'finish-reason-always-stop', met: 1 }]);
    const eosReason = { ...t, finishReasons: t.finishReasons.map((f) => ({ ...f, reason: 'eos' })) };
    expect(judge([eosReason], [law('finish-reason-true')], withDefault(cut)).violations).toHaveLength(1);
  });

  test('explain a chat answer that begins with the prompt, and no other prefix', () => {
    const t = right('openai-chat', 'unary', eos, {}, DEFAULT_PROFILE);
    expect(t.text).toBe('red or blue?I like red');
    expect(judge([t], [law('text-is-true-decode')], withDefault(eos)).gapsMet).toMatchObject([{ id: 'chat-returns-prompt', met: 1 }]);
    expect(judge([withText(t, 'red or blue? I like red')], [law('text-is-true-decode')], withDefault(eos)).violations).toHaveLength(1);
  });

  test('explain, of an old front end, a completion that begins with the prompt and has no usage', () => {
    const profile = profileOf('openai=r25.10');
    const t = right('openai-completions', 'unary', eos, {}, profile);
    expect([t.text, t.usage]).toEqual(['red or blue?I like red', undefined]);
    const judged = judge([t], LAWS, context(eos, { profile }));
    expect(judged.violations).toEqual([]);
    expect(judged.gapsMet.map((g) => [g.id, g.met])).toEqual([
      ['completion-returns-prompt', 1],
      ['usage-not-served', 1],
    ]);
    const miscounted = { ...t, usage: { promptTokens: PROMPT_IDS.length, completionTokens: N + 1 } };
    expect(judge([miscounted], [law('usage-counts')], context(eos, { profile })).violations).toHaveLength(1);
  });

  test('explain one BOS too many, not two', () => {
    const t = right('openai-chat', 'unary', eos, {}, DEFAULT_PROFILE);
    expect(judge([t], [law('prompt-ids')], withDefault(eos)).gapsMet).toMatchObject([{ id: 'double-bos', met: 1 }]);
    const two = { ...t, usage: { promptTokens: PROMPT_IDS.length + 2, completionTokens: N } };
    expect(judge([two], [law('prompt-ids')], withDefault(eos)).violations).toHaveLength(1);
  });

  test('explain the part of a character that a stream of the PyTorch back end loses, and no other loss', () => {
    const half = answer([...HELLO, SUN[0] as number], 'length');
    const t = right('llmapi', 'stream', half, {}, DEFAULT_PROFILE);
    expect([t.text, half.text]).toEqual(['I like red', 'I like red�']);
    expect(judge([t], LAWS, withDefault(half)).gapsMet.map((g) => g.id)).toEqual(['cut-character-lost']);
    expect(judge([withText(t, 'I like')], [law('deltas-equal-whole')], withDefault(half)).violations).toHaveLength(1);
  });

  test('explain that llmapi takes no stop strings, by its words, and only to who sent some', () => {
    const t = right('llmapi', 'unary', stopped, { stopWords: [' blue'] }, DEFAULT_PROFILE);
    expect(judge([t], LAWS, withDefault(stopped)).gapsMet.map((g) => g.id)).toEqual(['llmapi-refuses-stop-strings']);
    const other = { ...t, errors: t.errors.map((e) => ({ ...e, message: 'Error generating request: out of memory' })) };
    const unasked = { ...t, case: caseOf('llmapi', 'unary', { maxTokens: 8 }) };
    expect(judge([other, unasked], [law('answers-at-all')], withDefault(stopped)).violations).toHaveLength(2);
  });

  test('are reported as gone the day a server keeps the law', () => {
    const transcripts = [right('ensemble', 'stream', sun), right('openai-chat', 'unary', { ...cut })];
    const judged = judge(transcripts, LAWS, (t) => withDefault(t.case.route === 'ensemble' ? sun : cut));
    expect(judged.violations).toEqual([]);
    expect([...judged.gapsGone].sort()).toEqual([
      'chat-returns-prompt',
      'chunk-decoded-alone',
      'chunk-decoded-alone-characters',
      'double-bos',
      'finish-reason-always-stop',
    ]);
  });

  test('are none under the ideal profile', () => {
    expect(GAPS.filter((gap) => gap.listed(IDEAL_PROFILE))).toEqual([]);
    const oldest = profileOf('core=2.36,openai=r24.11');
    const nvidia = GAPS.filter((gap) => !TRTLLM_SERVE_GAPS.includes(gap));
    expect(nvidia.filter((gap) => !gap.listed(oldest)).map(({ id }) => id)).toEqual(['stream-stands-still']);
    expect(TRTLLM_SERVE_GAPS.filter((gap) => gap.listed(DEFAULT_PROFILE))).toEqual([]);
    expect(nvidia.filter((gap) => !gap.listed(DEFAULT_PROFILE)).map(({ id }) => id)).toEqual([
      'completion-returns-prompt',
      'usage-not-served',
      'cancel-unknown-to-models',
      'stream-stands-still',
    ]);
    expect(new Set(GAPS.map((gap) => gap.id)).size).toBe(GAPS.length);
  });

  test('excuse a stream that stood still after a true beginning, on the release that was seen to, and no other', () => {
    const truth = answer(HELLO, 'length');
    const cut = { ...right('raw', 'stream', truth), ending: 'deadline' } as const;
    const still = { ...cut, ids: cut.ids.subarray(0, 2) };
    const noEnd = { law: 'answers-at-all', code: 'no-end', text: 'the exchange had 2 events and did not end within 30002 ms' };
    const on = (core: string) => context(truth, { profile: profileOf(`core=${core}`) });
    expect(gapFor(still, noEnd, on('2.45'))?.id).toBe('stream-stands-still');
    expect(gapFor(still, noEnd, on('2.46'))).toBeUndefined();
    expect(gapFor(cut, noEnd, on('2.45'))).toBeUndefined();
    expect(gapFor({ ...still, ids: Int32Array.of(HELLO[0]!, 511) }, noEnd, on('2.45'))).toBeUndefined();
    expect(gapFor(still, { ...noEnd, code: 'cut' }, on('2.45'))).toBeUndefined();
  });

  test('serve laws that suites check by metrics', () => {
    const t: Transcript = { ...ensemble, ending: 'cancelled' };
    const ranOn = { law: 'cancel-frees', code: ENGINE_RAN_ON, text: 'the engine ran to its end' };
    expect(gapFor(t, ranOn, withDefault(eos))?.id).toBe('ensemble-cancel-runs-on');
    expect(gapFor({ ...rawEos, ending: 'cancelled' }, ranOn, withDefault(eos))).toBeUndefined();
    expect(gapFor(t, ranOn, context(eos))).toBeUndefined();
  });
});

describe('the answer of the PyTorch back end', () => {
  const c = (stopWords: readonly string[]) => caseOf('llmapi', 'stream', { maxTokens: 64, stopWords });

  test('ends before the first string of the list that its text holds, whatever tokens that has', () => {
    expect(answerOn(c(['ke r', ' blue']), stopped, tokenizer)).toMatchObject({ text: 'I li', finish: 'stop-words' });
    expect(answerOn(c([' blue']), stopped, tokenizer)).toMatchObject({ text: 'I like red', ids: stopped.ids });
    expect(answerOn({ ...c([' blue']), route: 'ensemble' }, stopped, tokenizer)).toBe(stopped);
    expect(answerOn(c(['zebra']), eos, tokenizer)).toBe(eos);
  });

  test('is the same when it is asked for twice', () => {
    fc.assert(
      fc.property(anyAnswer, fc.constantFrom(' blue', 'e', ' '), ({ truth }, word) => {
        const once = answerOn(c([word]), truth, tokenizer);
        expect(once.text).not.toContain(word);
        expect(answerOn(c([word]), once, tokenizer)).toEqual(once);
      }),
    );
  });
});

describe('the answer of a raw transcript', () => {
  test('is the one that was served, with the reason that follows from framing and counts', () => {
    fc.assert(
      fc.property(anyAnswer, anyMode, ({ truth, limits }, mode) => {
        expect(answerOf(right('raw', mode, truth, limits), tokenizer)).toEqual({ ...truth, logProbs: truth.logProbs.map(Math.fround) });
      }),
    );
  });

  test('is none where none was given', () => {
    // A float32 tie: the reply lists the other token first, and the chosen one second.
    const tied = {
      ...rawEos,
      winners: rawEos.winners.map((w, k) => (k === 0 ? 77 : w)),
      runnerUps: rawEos.runnerUps.map((r, k) => (k === 0 ? (rawEos.ids[0] as number) : r)),
    };
    expect(answerOf(tied, tokenizer)?.runnerUps[0]).toBe(77);
    expect(answerOf({ ...rawEos, ending: 'cancelled' }, tokenizer)).toBeUndefined();
    expect(answerOf(ensemble, tokenizer)).toBeUndefined();
    expect(idsOfEvent(rawEos, N)).toHaveLength(0);
  });
});
