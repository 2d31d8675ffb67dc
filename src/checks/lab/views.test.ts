import { expect, test } from 'vitest';
import { SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { profileOf } from '#core/profile/index.ts';
import type { Case, Prompt, RouteId } from '#core/request/index.ts';
import { FLAG, TranscriptBuilder } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { answerViews } from './answer-views.ts';
import { exchangeView } from './exchange-view.ts';
import { promptViews } from './prompt-views.ts';

const tokenizer = loadTokenizer(TINY_CHECKPOINT);
/** `Island is « île » in French.`; “î” is c3 ae, and its first byte stands in one token with the space before it. */
const ISLE = [46, 88, 271, 83, 73, 291, 435, 363, 112, 306, 436, 317, 427, 19];
const TRUTH: Answer = {
  promptIds: [],
  ids: ISLE,
  text: 'Island is « île » in French.',
  finish: 'eos',
  margins: ISLE.map((_, i) => i / 2),
  runnerUps: [],
  logProbs: [],
};

const caseOn = (route: RouteId, prompt: Prompt = { kind: 'text', text: 'a' }): Case => ({
  request: { id: 'isle', prompt, sampling: { kind: 'greedy' }, limits: { maxTokens: 32 } },
  route,
  mode: 'stream',
  repeat: 0,
});

function texts(parts: readonly string[]): TranscriptBuilder {
  const builder = new TranscriptBuilder(caseOn('ensemble'));
  for (const part of parts) {
    builder.event(FLAG.data);
    builder.text(part);
  }
  return builder;
}

test('tokens that are parts of a character show their bytes, with either kind of tokenizer', () => {
  expect(tokenizer.tokenBytes(363)).toEqual(Uint8Array.of(0x20, 0xc3));
  const spm = loadTokenizer(SPM_CHECKPOINT);
  const byte = spm.encode('☃', { addSpecialTokens: false }).slice(-3);
  expect(byte.map((id) => spm.tokenBytes(id))).toEqual([Uint8Array.of(0xe2), Uint8Array.of(0x98), Uint8Array.of(0x83)]);
  expect(Buffer.from(spm.tokenBytes(spm.encode('the', { addSpecialTokens: false })[0] ?? -1) ?? []).toString()).toMatch(/^ /);
  expect(tokenizer.tokenBytes(tokenizer.eosId ?? -1)).toBeUndefined();
});

test('a text that parts within a character parts at the token that begins it, and at the event that brought the other text', () => {
  const t = texts(['Island', ' is «', ' \ufffd', '\ufffd', 'le » in French.']).seal('complete');
  const [accepted, observed] = answerViews(t, TRUTH, tokenizer);
  expect(accepted).toMatchObject({ name: 'accepted', of: 'tokens', first: 0, total: 14, at: 7 });
  expect(accepted?.pieces.slice(6, 10)).toEqual([
    { text: ' «', id: 435, margin: 3 },
    { text: '', bytes: '20c3', id: 363, margin: 3.5 },
    { text: '', bytes: 'ae', id: 112, margin: 4 },
    { text: 'le', id: 306, margin: 4.5 },
  ]);
  expect(observed).toMatchObject({ of: 'events', at: 2, pieces: [{ text: 'Island' }, { text: ' is «' }, { text: ' \ufffd' }, {}, {}] });
});

test('of long answers so much is kept as can be looked at, and where they part is among it', () => {
  const builder = new TranscriptBuilder(caseOn('raw'));
  const truth = { ...TRUTH, ids: Array.from({ length: 500 }, () => 46), margins: [] };
  builder.event(FLAG.data);
  for (let i = 0; i < 500; i++) builder.id(i === 300 ? 88 : 46);
  const [accepted, observed] = answerViews(builder.seal('complete'), truth, tokenizer);
  expect(observed).toMatchObject({ first: 260, at: 40, total: 500 });
  expect([accepted?.pieces.length, observed?.pieces.length]).toEqual([81, 81]);
  expect([accepted?.pieces[40]?.id, observed?.pieces[40]?.id]).toEqual([46, 88]);
});

test('an answer that ends early parts behind its last token', () => {
  const builder = new TranscriptBuilder(caseOn('raw'));
  builder.event(FLAG.data);
  for (const id of ISLE.slice(0, 3)) builder.id(id);
  expect(answerViews(builder.seal('complete'), TRUTH, tokenizer).map(({ at }) => at)).toEqual([3, 3]);
});

test('an answer that came whole is cut where the token begins that it differs from', () => {
  const [accepted, observed] = answerViews(texts(['Island is « Ile » in French.']).seal('complete'), TRUTH, tokenizer);
  expect(accepted?.pieces[accepted.at]).toMatchObject({ bytes: '20c3' });
  expect(observed).toMatchObject({ total: 1, at: 1, pieces: [{ text: 'Island is «' }, { text: ' Ile » in French.' }] });
});

test('nothing parts where answers are equal, or where this client cut one off', () => {
  const cut = () => texts(['Island is « ']);
  expect(answerViews(cut().seal('cancelled'), TRUTH, tokenizer)).toEqual([]);
  expect(answerViews(cut().seal('broken'), TRUTH, tokenizer)).toHaveLength(2);
  expect(answerViews(texts([TRUTH.text]).seal('complete'), TRUTH, tokenizer)).toEqual([]);
});

test('a stream keeps its first and last events, its flags by name and the place of the cancel', () => {
  const builder = texts(Array.from({ length: 200 }, (_, i) => `${i} `));
  builder.event(FLAG.final);
  const view = exchangeView('observed', builder.seal('cancelled'), 3);
  expect(view).toMatchObject({ total: 201, gapBefore: 80, ending: 'cancelled' });
  expect(view.events).toHaveLength(160);
  expect(view.events.flatMap(({ flags }, i) => (flags.includes('cancel') ? [i] : []))).toEqual([2]);
  expect(view.events[80]?.text).toBe('121 ');
  expect(view.events.at(-1)?.flags).toEqual(['final']);
});

test('a chat prompt that got two BOS stands beside the one that the tokenizer makes', () => {
  const prompt: Prompt = { kind: 'messages', messages: [{ role: 'user', content: 'Hi' }] };
  const t = new TranscriptBuilder(caseOn('openai-chat', prompt)).seal('complete');
  const [right, given] = promptViews(t, tokenizer, profileOf('default'));
  expect(given?.total).toBe((right?.total ?? 0) + 1);
  expect(given?.tokens.slice(0, 2)).toEqual([right?.tokens[0], right?.tokens[0]]);
  expect(promptViews(t, tokenizer, profileOf('ideal'))).toHaveLength(1);
});
