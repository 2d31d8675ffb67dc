/** The laws and known gaps on SentencePiece text: the spaces and bytes that a server loses are excused one by one. */
import { expect, test } from 'vitest';
import { DEFAULT_PROFILE, IDEAL_PROFILE, type ReleaseProfile } from '#core/profile/index.ts';
import type { Mode, Prompt, RouteId } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Answer, judge, law, rightPromptIds, servedPromptIds } from './index.ts';

const tokenizer = loadTokenizer('docker/checkpoint/tiny-spm');
const idsOf = (text: string) => tokenizer.encode(text, { addSpecialTokens: false });
const PROMPT: Prompt = { kind: 'messages', messages: [{ role: 'user', content: 'Which way to Oslo?' }] };
const REQUEST = { id: 'way-01', prompt: PROMPT, sampling: { kind: 'greedy' }, limits: { maxTokens: 40 } } as const;

function answer(text: string): Answer {
  const ids = idsOf(text);
  const promptIds = rightPromptIds(tokenizer, REQUEST);
  return { promptIds, ids, text: tokenizer.decode(ids), finish: 'length', margins: [], runnerUps: [], logProbs: [] };
}

function served(route: RouteId, mode: Mode, texts: readonly string[], promptTokens?: number): Transcript {
  const b = new TranscriptBuilder({ request: REQUEST, route, mode, repeat: 0 });
  for (const text of texts) {
    b.event(FLAG.data);
    b.text(text);
  }
  b.event(FLAG.final | FLAG.finish);
  if (promptTokens !== undefined) b.usage({ promptTokens, completionTokens: texts.length });
  return b.seal('complete');
}

function judged(id: string, t: Transcript, truth: Answer, profile: ReleaseProfile = DEFAULT_PROFILE) {
  const { gapsGone, gapsMet, violations } = judge([t], [law(id)], { tokenizer, profile, truth });
  return { met: gapsMet.map((gap) => gap.id), gone: gapsGone, broken: violations.length };
}

test('each chunk that was decoded alone loses one space, and a chunk that lost another is no gap', () => {
  const truth = answer('Go south to Oslo.');
  const alone = truth.ids.map((id) => tokenizer.decode([id]));
  expect(truth.text).toBe('Go south to Oslo.');
  expect(alone.join('')).toBe('GosouthtoOslo.');
  const stream = (texts: readonly string[]) => judged('deltas-equal-whole', served('ensemble', 'stream', texts), truth);
  expect(stream(alone)).toEqual({ met: ['chunk-decoded-alone'], gone: [], broken: 0 });
  expect(judged('deltas-equal-whole', served('ensemble', 'stream', alone), truth, IDEAL_PROFILE).broken).toBe(1);
  // One space back in its place, or one letter gone, is something else.
  expect(stream(alone.with(1, ` ${alone[1]}`)).broken).toBe(1);
  expect(stream(alone.with(-1, '')).broken).toBe(1);
  // All of them back is the day on which the gap is gone.
  const whole = truth.ids.map((_, k) => tokenizer.decode(truth.ids.slice(0, k + 1)));
  const mended = whole.map((text, k) => text.slice((whole[k - 1] ?? '').length));
  expect(stream(mended)).toEqual({ met: [], gone: ['chunk-decoded-alone'], broken: 0 });
});

test('a character is one U+FFFD for each of its bytes', () => {
  const truth = answer('猫');
  const alone = truth.ids.map((id) => tokenizer.decode([id]));
  expect(alone).toEqual(['', '\ufffd', '\ufffd', '\ufffd']);
  const stream = (texts: readonly string[]) => judged('no-broken-utf8', served('generate', 'stream', texts), truth);
  expect(stream(alone)).toEqual({ met: ['chunk-decoded-alone-characters'], gone: [], broken: 0 });
  expect(stream(['', '\ufffd', '\ufffd', '']).broken).toBe(1);
});

test('prompt and answer together have a space more than the two apart', () => {
  const truth = answer('Go south to Oslo.');
  const prompt = tokenizer.decode(truth.promptIds);
  expect(tokenizer.decode([...truth.promptIds, ...truth.ids])).toBe(`${prompt} ${truth.text}`);
  const whole = (text: string) => judged('text-is-true-decode', served('openai-chat', 'unary', [text]), truth);
  expect(whole(`${prompt} ${truth.text}`)).toEqual({ met: ['chat-returns-prompt'], gone: [], broken: 0 });
  expect(whole(prompt + truth.text).broken).toBe(1);
  expect(whole(` ${truth.text}`).broken).toBe(1);
});

test('the ids of a conversation depend on who writes the BOS: a written one has no prefix behind it', () => {
  const right = rightPromptIds(tokenizer, REQUEST);
  const doubled = servedPromptIds(REQUEST, 'openai-chat', tokenizer, DEFAULT_PROFILE);
  const name = (ids: readonly number[]) => ids.slice(0, 3).map((id) => tokenizer.tokenText(id));
  expect(name(right)).toEqual(['<s>', '▁[INST]', '▁Wh']);
  expect(name(doubled)).toEqual(['<s>', '<s>', '[']);
  expect(servedPromptIds(REQUEST, 'ensemble', tokenizer, DEFAULT_PROFILE)).toEqual(right);
  const counted = (n: number) => judged('prompt-ids', served('openai-chat', 'unary', ['x'], n), answer('x'));
  expect(counted(doubled.length)).toEqual({ met: ['double-bos'], gone: [], broken: 0 });
  // One more than right is what another tokenizer would make of it.
  expect(counted(right.length + 1).broken).toBe(1);
});
