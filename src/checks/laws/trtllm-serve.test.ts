/** The rows about stop strings, cut characters and counts of docs/observed.md#trtllm-serve, in tokens of the tiny checkpoint. */
import { describe, expect, test } from 'vitest';
import { profileOf } from '#core/profile/index.ts';
import type { Case, Mode } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Answer, judge, law } from './index.ts';
import { countedWhole, servedAnswer, servesTrtllm, streamedText } from './trtllm-serve.ts';

const tokenizer = loadTokenizer('docker/checkpoint/tiny');
const A = profileOf('openai=trtllm-serve-1.1');
const KEEPS_EOS = profileOf('models=1.2,openai=trtllm-serve-1.3rc');
const IDEAL = profileOf('ideal,openai=trtllm-serve-1.1');
const ids = (...texts: readonly string[]) => texts.flatMap((text) => tokenizer.encode(text, { addSpecialTokens: false }));

function caseOf(mode: Mode, stopWords: readonly string[], maxTokens = 64): Case {
  return {
    request: { id: 'r', prompt: { kind: 'text', text: 'x' }, sampling: { kind: 'greedy' }, limits: { maxTokens, stopWords } },
    route: 'openai-completions',
    mode,
    repeat: 0,
  };
}

function engine(tokens: readonly number[], finish: Answer['finish']): Answer {
  const text = tokenizer.decode(tokens, { skipSpecialTokens: true });
  return { promptIds: [0, 9], ids: tokens, text, finish, margins: tokens.map(() => 1), runnerUps: tokens.map(() => 8), logProbs: [] };
}

/** Letters are one token each. */
const LETTERS = ids('a', 'b', 'X', 'Y', 'c', 'd');

describe('the answer that is to be served', () => {
  test('leaves out a stop phrase that the engine met by its ids', () => {
    const { request } = caseOf('unary', ['XY']);
    const ended = engine([...LETTERS.slice(0, 2), ...ids('XY')], 'stop-words');
    const served = servedAnswer(ended, request, tokenizer);
    expect(served).toMatchObject({ text: 'ab', ids: LETTERS.slice(0, 2), finish: 'stop-words' });
    expect(countedWhole(served, request, tokenizer, A)).toBe(2);
  });

  test('is cut where the text has the phrase, though the engine went on, and counts as far as that', () => {
    const { request } = caseOf('unary', ['bX']);
    const served = servedAnswer(engine(LETTERS, 'eos'), request, tokenizer);
    expect(served).toMatchObject({ text: 'a', ids: LETTERS.slice(0, 3), finish: 'stop-words', engine: { finish: 'eos' } });
    expect([countedWhole(served, request, tokenizer, A), countedWhole(served, request, tokenizer, KEEPS_EOS)]).toEqual([6, 7]);
  });

  test('keeps the ids of a phrase on the last token, since the limit ended them', () => {
    const tokens = [...LETTERS.slice(0, 2), ...ids('XY')];
    const { request } = caseOf('unary', ['XY'], tokens.length);
    expect(servedAnswer(engine(tokens, 'stop-words'), request, tokenizer)).toMatchObject({ text: 'ab', ids: tokens, finish: 'stop-words' });
  });

  test('is the engine’s own without stop words', () => {
    const own = engine(LETTERS, 'length');
    expect(servedAnswer(own, caseOf('unary', []).request, tokenizer)).toBe(own);
    expect([servesTrtllm('openai-chat', A), servesTrtllm('ensemble', A), servesTrtllm('openai-chat', profileOf('default'))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('the text that a stream shows', () => {
  const shown = (tokens: readonly number[], finish: Answer['finish'], stopWords: readonly string[], profile = A) => {
    const { request } = caseOf('stream', stopWords);
    return streamedText(servedAnswer(engine(tokens, finish), request, tokenizer), request, tokenizer, profile);
  };
  // A character of three bytes, one token each at the end of the text.
  const SUN = ids('日');

  test('has what came before the last token of a phrase, unless that is held back', () => {
    const phrase = ids('XY');
    const leaked = tokenizer.decode([...LETTERS.slice(0, 2), ...phrase.slice(0, -1)]);
    expect(shown([...LETTERS.slice(0, 2), ...phrase], 'stop-words', ['XY'])).toBe(leaked);
    expect(shown([...LETTERS.slice(0, 2), ...phrase], 'stop-words', ['XY'], IDEAL)).toBe('ab');
    expect(shown(LETTERS, 'eos', ['bX'])).toBe('ab');
  });

  test('lacks the bytes of a character that the end cut off', () => {
    expect(SUN.length).toBeGreaterThan(1);
    const cut = [...LETTERS.slice(0, 1), ...SUN.slice(0, -1)];
    expect(shown(cut, 'length', [])).toBe('a');
    expect(shown(cut, 'length', [], IDEAL)).toBe('a\ufffd');
    expect(shown([...LETTERS.slice(0, 1), ...SUN], 'eos', [])).toBe('a日');
  });
});

describe('known gaps of trtllm-serve', () => {
  /** A stream of one event per text. */
  function stream(c: Case, texts: readonly string[], tokens: number, foreign: readonly string[] = []): Transcript {
    const b = new TranscriptBuilder(c, { text: 'x' });
    for (const [k, text] of texts.entries()) {
      b.event(FLAG.data);
      b.text(text);
      if (k === texts.length - 1) b.finishReason('stop');
    }
    b.event(0);
    b.usage({ promptTokens: 2, completionTokens: tokens });
    b.event(FLAG.done);
    b.object('text_completion');
    for (const id of foreign) b.foreignId(id);
    return b.seal('complete');
  }
  const judged = (t: Transcript, answer: Answer, laws: readonly string[], profile = A) => {
    const truth = servedAnswer(answer, t.case.request, tokenizer);
    const found = judge([t], laws.map(law), { tokenizer, profile, truth });
    return [found.gapsMet.map(({ id }) => id), found.violations.map(({ violation }) => `${violation.law} ${violation.code}`)];
  };
  const c = caseOf('stream', ['bX']);

  test('explain the leak of a stop string, and nothing more', () => {
    const laws = ['deltas-equal-whole', 'stop-words', 'no-empty-event', 'usage-counts', 'finish-reason-true'];
    expect(judged(stream(c, ['a', 'b', ''], 3), engine(LETTERS, 'eos'), laws)).toEqual([['stop-string-leaks'], []]);
    expect(judged(stream(c, ['a', 'b', 'X'], 3), engine(LETTERS, 'eos'), laws)).toEqual([
      [],
      ['deltas-equal-whole text', 'stop-words shown'],
    ]);
    expect(judged(stream(c, ['a', 'b', ''], 4), engine(LETTERS, 'eos'), ['usage-counts'])).toEqual([[], ['usage-counts count']]);
    expect(judged(stream(c, ['a', 'b', ''], 3), engine(LETTERS, 'eos'), laws, IDEAL)).toEqual([[], ['deltas-equal-whole text']]);
  });

  test('explain an id for every chunk, and not one that is there twice or missing', () => {
    const ended = engine(LETTERS.slice(0, 1), 'eos');
    const whole = (foreign: readonly string[]) => judged(stream(caseOf('stream', []), ['a', ''], 1, foreign), ended, ['request-id-echoed']);
    expect(whole(['2', '3'])).toEqual([['id-per-chunk'], []]);
    expect(whole(['2', '2'])).toEqual([[], ['request-id-echoed foreign-id']]);
    expect(whole(['2'])).toEqual([[], ['request-id-echoed foreign-id']]);
  });

  test('explain one EOS too many where the sampler keeps it', () => {
    const t = stream(caseOf('stream', []), ['a', ''], 2);
    const ended = engine(LETTERS.slice(0, 1), 'eos');
    expect(judged(t, ended, ['usage-counts'], KEEPS_EOS)).toEqual([['usage-counts-eos'], []]);
    expect(judged(t, ended, ['usage-counts'], A)).toEqual([[], ['usage-counts count']]);
  });

  test('explain what is counted past a stop string of a whole answer', () => {
    const whole = (tokens: number) => {
      const b = new TranscriptBuilder(caseOf('unary', ['bX']), { text: 'x' });
      b.event(FLAG.data);
      b.text('a');
      b.finishReason('stop');
      b.usage({ promptTokens: 2, completionTokens: tokens });
      return judged(b.seal('complete'), engine(LETTERS, 'eos'), ['usage-counts', 'text-is-true-decode', 'stop-words']);
    };
    expect(whole(6)).toEqual([['usage-counts-past-stop'], []]);
    expect(whole(7)).toEqual([[], ['usage-counts count']]);
  });
});
