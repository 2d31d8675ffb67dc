import { expect, test } from 'vitest';
import { profileOf } from '#core/profile/index.ts';
import { SPM_CHECKPOINT } from '#core/config/index.ts';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import { CHECKPOINT } from '../engine/testing.ts';
import type { EngineFinish, EngineStep } from '../engine/types.ts';
import { drawnIds, finishOf } from './endings.ts';
import { LlmOutput, OUTPUT_DEFAULTS, stopStrings } from './llm-output.ts';

const tiny = loadTokenizer(CHECKPOINT);
const spm = loadTokenizer(SPM_CHECKPOINT);
const encode = (text: string, tokenizer = tiny) => tokenizer.encode(text, { addSpecialTokens: false });

interface Run {
  readonly ids: readonly number[];
  readonly finish: EngineFinish;
  readonly streaming?: boolean;
  readonly stop?: readonly string[];
  readonly profile?: string;
  readonly maxTokens?: number;
  readonly prompt?: readonly number[];
  readonly faults?: readonly string[];
  readonly tokenizer?: Tokenizer;
}

/** One id per step; the engine's own finish on the last id, or alone after it when EOS ended the answer. */
function run({
  ids,
  finish,
  streaming = true,
  stop = [],
  profile = 'default',
  maxTokens = 60,
  prompt,
  faults = [],
  tokenizer = tiny,
}: Run) {
  const { torch } = profileOf(profile).models;
  const params = { ...OUTPUT_DEFAULTS, stops: stopStrings(stop, tokenizer) };
  const output = new LlmOutput({
    tokenizer,
    torch,
    faults: new Set(faults),
    params,
    promptIds: prompt ?? [],
    streaming,
    streamInterval: 1,
  });
  const texts: string[] = [];
  let pending: number[] = [];
  let generated = 0;
  let aborted = false;
  const step = (news: readonly number[], end: EngineFinish | undefined) => {
    const told: EngineStep = { ids: news, logProbs: [], cumLogProb: 0, logits: [], finish: end, error: undefined };
    generated += news.length;
    pending.push(...drawnIds(told, torch, tokenizer));
    const finishes = finishOf(told, generated, maxTokens);
    if (!streaming && finishes === undefined) return;
    aborted = output.take({ ids: pending, logProbs: [], finish: finishes });
    pending = [];
    texts.push(output.text);
  };
  for (const [k, id] of ids.entries()) if (!output.done) step([id], finish !== 'eos' && k === ids.length - 1 ? finish : undefined);
  if (finish === 'eos' && !output.done) step([], 'eos');
  return { texts, ids: output.ids, text: output.text, reason: [output.finishReason, output.stopReason], aborted };
}

test('EOS is among the ids where the sampler of the release keeps it, and never in the text', () => {
  const ids = encode('the end.');
  expect(run({ ids, finish: 'eos', profile: 'models=1.0' })).toMatchObject({
    ids: [...ids, tiny.eosId],
    text: 'the end.',
    reason: ['stop', null],
  });
  expect(run({ ids, finish: 'eos', profile: 'models=1.1' })).toMatchObject({ ids, text: 'the end.', reason: ['stop', null] });
});

test('texts of a stream are whole and only grow; a character waits until it is whole', () => {
  const { texts, text } = run({ ids: encode('日本 x'), finish: 'length' });
  expect(text).toBe('日本 x');
  expect(texts.join()).not.toContain('\ufffd');
  expect(texts.every((one, k) => k === 0 || one.startsWith(texts[k - 1]!))).toBe(true);
});

test('a character that the end cuts off is U+FFFD in a whole answer and nothing in a stream', () => {
  const ids = [...encode('x'), encode('日')[0]!];
  expect(run({ ids, finish: 'length', streaming: false }).text).toBe('x\ufffd');
  expect(run({ ids, finish: 'length' }).text).toBe('x');
  expect(run({ ids, finish: 'length', profile: 'ideal' }).text).toBe('x\ufffd');
});

test('a stop string met by its ids takes them back; its beginning stays in the stream', () => {
  const [first, ...rest] = ['q', 'z'].flatMap((letter) => encode(letter));
  const phrase = { ids: [...encode('a b '), first!, ...rest], finish: 'stop-words' as const, stop: ['qz'] };
  expect(encode('qz')).toEqual([first, ...rest]);
  expect(run({ ...phrase, streaming: false })).toMatchObject({ text: 'a b ', ids: encode('a b '), reason: ['stop', 'qz'] });
  expect(run(phrase)).toMatchObject({ text: 'a b q', ids: encode('a b '), reason: ['stop', 'qz'] });
  expect(run({ ...phrase, profile: 'ideal' })).toMatchObject({ text: 'a b ', reason: ['stop', 'qz'] });
});

test('a stop string whose ids take the space before it along: a release that holds it back never showed that space', () => {
  const ids = encode('Løvise drinks milk', spm);
  const stop = ['drinks milk'];
  const phrase = encode(stop[0]!, spm);
  expect(ids.slice(-phrase.length)).toEqual(phrase);
  const { texts, text } = run({ ids, stop, finish: 'stop-words', profile: 'ideal', tokenizer: spm });
  expect(text).toBe('Løvise');
  expect(texts.filter((one) => !'Løvise'.startsWith(one))).toEqual([]);
});

test('a stop string that the length meets too is found by its text, and its ids stay', () => {
  const ids = [...encode('a b '), ...encode('qz')];
  const both = { ids, finish: 'stop-words' as const, stop: ['qz'], maxTokens: ids.length, streaming: false };
  expect(run(both)).toMatchObject({ text: 'a b ', ids, reason: ['stop', 'qz'] });
});

test('a stop string in other tokens than its own is found by its text: the stream ends shorter than it was', () => {
  const ids = encode('the end of all');
  const other = { ids, finish: 'eos' as const, stop: ['e e'] };
  expect(run({ ...other, streaming: false })).toMatchObject({ text: 'th', reason: ['stop', 'e e'], ids });
  const { texts, text, aborted } = run(other);
  expect(text).toBe('th');
  expect(aborted).toBe(true);
  expect(texts.at(-2)!.length).toBeGreaterThan(2);
  expect(run({ ...other, profile: 'ideal' }).texts.every((one) => 'th'.startsWith(one))).toBe(true);
});

test('the empty stop string ends an answer before it begins', () => {
  expect(run({ ids: encode('the end'), finish: 'eos', stop: [''] })).toMatchObject({ text: '', reason: ['stop', ''], aborted: true });
});

test('a prompt that is not excluded stands in front, special tokens skipped', () => {
  const prompt = tiny.encode('say: ', { addSpecialTokens: true });
  expect(run({ ids: encode('the end'), finish: 'eos', streaming: false, prompt }).text).toBe('say: the end');
});

test('fault stream-trailing-fffd-trtllm: the parts of a character come one by one, in streams only', () => {
  const broken = { ids: encode('日 x'), finish: 'length' as const, faults: ['stream-trailing-fffd-trtllm'] };
  expect(run(broken).text).toBe('\ufffd\ufffd\ufffd x');
  expect(run({ ...broken, streaming: false }).text).toBe('日 x');
});
