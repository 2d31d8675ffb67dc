/** The known gaps of the BLS excuse their own deviation, and nothing that is only like it. */
import { expect, test } from 'vitest';
import { DEFAULT_PROFILE, IDEAL_PROFILE, type ReleaseProfile } from '#core/profile/index.ts';
import type { Limits, Mode, RouteId } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Answer, judge, law } from './index.ts';

const tokenizer = loadTokenizer('docker/checkpoint/tiny');
const idsOf = (text: string) => tokenizer.encode(text, { addSpecialTokens: false });

/** The transcript of a server that served these texts, each the whole so far on `bls-accumulate`. */
function served(route: RouteId, mode: Mode, texts: readonly string[], limits: Partial<Limits> = {}): Transcript {
  const request = {
    id: 'case',
    prompt: { kind: 'text', text: 'x' },
    sampling: { kind: 'greedy' },
    limits: { maxTokens: 40, ...limits },
  } as const;
  const b = new TranscriptBuilder({ request, route, mode, repeat: 0 });
  for (const text of texts) {
    b.event(FLAG.data);
    if (route === 'bls-accumulate') b.textSoFar(text);
    else b.text(text);
  }
  b.event(FLAG.final);
  return b.seal('complete');
}

const answer = (ids: readonly number[]): Answer => ({
  promptIds: [0],
  ids,
  text: tokenizer.decode(ids),
  finish: 'length',
  margins: [],
  runnerUps: [],
  logProbs: [],
});

function judged(id: string, t: Transcript, truth: Answer, reference?: Transcript, profile: ReleaseProfile = DEFAULT_PROFILE) {
  const { gapsGone, gapsMet, violations } = judge([t], [law(id)], { tokenizer, profile, truth, reference });
  return { met: gapsMet.map((g) => g.id), gone: gapsGone, broken: violations.map(({ violation }) => violation.code) };
}

const FINE = { met: [], gone: [], broken: [] };

test('a cut character is repaired, and nothing else is taken back', () => {
  const truth = answer(idsOf('日 the'));
  const soFar = truth.ids.map((_, k) => tokenizer.decode(truth.ids.slice(0, k + 1)));
  expect(soFar).toEqual(['\ufffd', '\ufffd', '日', '日 the']);
  const t = served('bls-accumulate', 'stream', soFar);
  expect(t).toMatchObject({ text: '日 the', revisions: [{ event: 2, kept: 0, dropped: '\ufffd' }] });
  expect(judged('texts-only-grow', t, truth)).toEqual({ met: ['accumulate-repairs-characters'], gone: [], broken: [] });
  expect(judged('texts-only-grow', t, truth, undefined, IDEAL_PROFILE).broken).toEqual(['taken-back']);
  // A server that holds the character back has no gap any more; one that begins anew has another defect.
  expect(judged('texts-only-grow', served('bls-accumulate', 'stream', ['', '', '日', '日 the']), truth)).toEqual({
    ...FINE,
    gone: ['accumulate-repairs-characters'],
  });
  expect(judged('texts-only-grow', served('bls-accumulate', 'stream', ['\ufffd', '\ufffd', '日', ' the']), truth).broken).toEqual([
    'taken-back',
    'taken-back',
  ]);
  expect(judged('texts-only-grow', served('bls-accumulate', 'stream', ['\ufffd', '日', '\ufffd', '日 the']), truth).broken).toHaveLength(3);
});

const STOP = { stopWords: [' stop'] };
const SAID = [' the', ' ', 's', 't', 'o', 'p', ' red'];
const truth = answer(SAID.flatMap(idsOf));

test('a stream that whole chunks spell a stop word in ends with the last of them', () => {
  const ensemble = served('ensemble', 'stream', SAID, STOP);
  const stopped = (n: number, words = STOP) => judged('ends-alike', served('bls', 'stream', SAID.slice(0, n), words), truth, ensemble);
  expect(stopped(6)).toEqual({ met: ['bls-stops-stream-by-text'], gone: [], broken: [] });
  expect(stopped(5).broken).toEqual(['ends-sooner']);
  expect(stopped(7)).toEqual({ ...FINE, gone: ['bls-stops-stream-by-text'] });
  // Beside another word it must run on, and a chunk border inside the word keeps it from being met.
  const two = { stopWords: ['zzz', ' stop'] };
  expect(stopped(7, two)).toEqual(FINE);
  expect(stopped(6, two).broken).toEqual(['ends-sooner']);
  expect(stopped(6, { stopWords: ['stop'] })).toEqual({ met: ['bls-stops-stream-by-text'], gone: [], broken: [] });
  expect(stopped(6, { stopWords: ['to'] }).broken).toEqual(['ends-sooner']);
});

test('accumulated, only a word that is the whole text so far ends the stream', () => {
  const ensemble = served('ensemble', 'stream', SAID, STOP);
  const cumulative = truth.ids.map((_, k) => tokenizer.decode(truth.ids.slice(0, k + 1)));
  expect(cumulative).toHaveLength(SAID.length);
  expect(judged('ends-alike', served('bls-accumulate', 'stream', cumulative, STOP), truth, ensemble)).toEqual(FINE);
  expect(judged('ends-alike', served('bls-accumulate', 'stream', cumulative.slice(0, 6), STOP), truth, ensemble).broken).toEqual([
    'ends-sooner',
  ]);
  const first = { stopWords: [' the'] };
  expect(judged('ends-alike', served('bls-accumulate', 'stream', cumulative.slice(0, 1), first), truth, ensemble).met).toEqual([
    'bls-stops-stream-by-text',
  ]);
});

test('an answer that is not streamed is cut behind the first word of the list', () => {
  const whole = served('ensemble', 'unary', ['hello stop now'], STOP);
  const cut = (text: string, limits: Partial<Limits> = STOP) => judged('ends-alike', served('bls', 'unary', [text], limits), truth, whole);
  expect(cut('hello stop')).toEqual({ met: ['bls-cuts-whole-by-text'], gone: [], broken: [] });
  expect(cut('hello ').broken).toEqual(['ends-sooner']);
  expect(cut('hello stop now')).toEqual({ ...FINE, gone: ['bls-cuts-whole-by-text'] });
  expect(cut('hello stop', { stopWords: [' now', ' stop'] }).broken).toEqual(['ends-sooner']);
});
