import { expect, test } from 'vitest';
import type { Prompt } from '#core/request/index.ts';
import { promptIds, promptText } from './prompt.ts';
import { TOKENIZER } from './testing.ts';

const MESSAGES: Prompt = { kind: 'messages', messages: [{ role: 'user', content: 'Hello' }] };
const BOS = TOKENIZER.bosId as number;

test('a text gets one BOS on raw and is sent as it is elsewhere', () => {
  const ids = promptIds({ kind: 'text', text: 'Hello' }, TOKENIZER);
  expect(ids[0]).toBe(BOS);
  expect(ids.indexOf(BOS, 1)).toBe(-1);
  expect(promptText({ kind: 'text', text: 'Hello' }, TOKENIZER)).toBe('Hello');
});

test('messages are rendered with the generation prompt and have one BOS either way', () => {
  const ids = promptIds(MESSAGES, TOKENIZER);
  const text = promptText(MESSAGES, TOKENIZER);
  expect(text).toBe('<|user|>Hello<|assistant|>');
  expect([...ids]).toEqual(TOKENIZER.encode(text, { addSpecialTokens: true }));
  expect([...ids].filter((id) => id === BOS)).toHaveLength(1);
});

test('ids go to raw untouched and nowhere else', () => {
  expect([...promptIds({ kind: 'ids', ids: [9, 8] }, TOKENIZER)]).toEqual([9, 8]);
  expect(() => promptText({ kind: 'ids', ids: [9, 8] }, TOKENIZER)).toThrow('[case-not-carriable]');
});
