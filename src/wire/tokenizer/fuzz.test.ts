import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Tokenizer as RustTokenizer } from 'tokenizers';
import { afterAll, expect, test } from 'vitest';
import { spoiledBytes, spoiledJson } from '#core/testing/mutations.ts';
import { refusal } from '#core/testing/refusal.ts';
import { loadTokenizer, type Tokenizer } from './index.ts';
import { CHECKPOINTS } from './variants.ts';

/** LOCKSTEP_TOKENIZER_RUNS: how many spoiled files of each kind are read. */
const RUNS = Number(process.env['LOCKSTEP_TOKENIZER_RUNS'] ?? 20);

const dir = mkdtempSync(join(tmpdir(), 'lockstep tokenizer '));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const FILES = ['tokenizer.json', 'tokenizer_config.json'] as const;
const good = (name: string, file: string) => readFileSync(join(CHECKPOINTS, name, file), 'utf8');
const named = fc.tuple(fc.constantFrom('tiny', 'tiny-spm'), fc.constantFrom(...FILES));

/** Puts one file in the place of a good one, and tells what comes of it: `accepted`, or what is wrong with the refusal. */
function outcome(name: string, file: string, content: string | Buffer, use: (tokenizer: Tokenizer) => unknown): string {
  for (const one of FILES) writeFileSync(join(dir, one), one === file ? content : good(name, one));
  const text = refusal(() => use(loadTokenizer(dir)));
  const code = /^\[(\S+)\]/.exec(text)?.[1];
  // The other file is named where the two contradict each other.
  return code === undefined || FILES.some((one) => text.includes(join(dir, one))) ? (code ?? text) : `${code}, without its file: ${text}`;
}

const HELLO = [{ role: 'user', content: 'a é' }] as const;
const useAll = (tokenizer: Tokenizer) => {
  expect(tokenizer.decode(tokenizer.encode(' a é<|eos|></s>', { addSpecialTokens: true }))).toBeTypeOf('string');
  expect(tokenizer.applyChatTemplate(HELLO, { addGenerationPrompt: true })).toBeTypeOf('string');
};

const REFUSED = ['tokenizer-malformed', 'tokenizer-inexact'];
/** Without a template chat is not served; one that fails is told when it is used. */
const OF_TEMPLATES = [...REFUSED, 'chat-template-failed'];

test('any text and any JSON is refused by file', () => {
  const text = fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(named, text, ([name, file], content) => {
      const seen = outcome(name, file, content, (tokenizer) => tokenizer.encode('a b', { addSpecialTokens: true }));
      // An object without any field is a tokenizer_config.json, and tells no special token.
      expect([...REFUSED, ...(file === 'tokenizer_config.json' ? ['accepted'] : [])]).toContain(seen);
    }),
    { numRuns: RUNS },
  );
});

test('a good file that was cut, edited or saved wrongly is refused with its line, or means what it says', () => {
  const spoiled = named.chain(([name, file]) => spoiledBytes(good(name, file)).map((bytes) => ({ name, file, bytes })));
  fc.assert(
    fc.property(spoiled, ({ name, file, bytes }) => {
      const seen = outcome(name, file, bytes, useAll);
      expect(['accepted', 'chat-template-missing, without its file', ...OF_TEMPLATES]).toContain(seen.split(':')[0]);
    }),
    { numRuns: RUNS },
  );
});

test('one with a part dropped, doubled or replaced is refused by its place, or gives the ids and texts of the Rust library', async () => {
  const spoiled = fc
    .constantFrom('tiny', 'tiny-spm')
    .chain((name) => spoiledJson(JSON.parse(good(name, 'tokenizer.json'))).map((json) => ({ name, text: JSON.stringify(json) })));
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(spoiled, async ({ name, text }) => {
      let ours: Tokenizer | undefined;
      const seen = outcome(name, 'tokenizer.json', text, (tokenizer) => (useAll(tokenizer), (ours = tokenizer)));
      expect(['accepted', ...OF_TEMPLATES]).toContain(seen);
      if (ours === undefined) return;
      // It is stricter in what is not read here; such a file nobody can serve.
      const rust = rustTokenizer();
      if (rust === undefined) return;
      compared++;
      for (const asked of ['a b', ' The cat é猫 12\n', '<|eos|>x<s> y</s>', 'constructor __proto__', '']) {
        for (const addSpecialTokens of [true, false]) {
          const ids = (await rust.encode(asked, null, { addSpecialTokens })).getIds();
          expect(ours.encode(asked, { addSpecialTokens })).toEqual(ids);
          expect(ours.decode(ids)).toBe(await rust.decode(ids, true));
        }
      }
    }),
    { numRuns: 2 * RUNS, examples: [[{ name: 'tiny-spm', text: good('tiny-spm', 'tokenizer.json') }]] },
  );
  expect(compared).toBeGreaterThan(0);
});

function rustTokenizer(): RustTokenizer | undefined {
  try {
    return RustTokenizer.fromFile(join(dir, 'tokenizer.json'));
  } catch {
    return undefined;
  }
}

test('so is a tokenizer_config.json, and a chat template of any text renders or fails by its file', () => {
  const config = (name: string) => JSON.parse(good(name, 'tokenizer_config.json')) as { readonly chat_template: string };
  const spoiled = fc.constantFrom('tiny', 'tiny-spm').chain((name) => {
    const whole = config(name);
    const words = fc.constantFrom(
      '{%',
      '%}',
      '{{',
      '}}',
      ' if ',
      ' for ',
      'endfor',
      'messages',
      '[0]',
      '.x',
      "'",
      '|',
      'trim',
      '~',
      '(',
      ')',
      'not',
    );
    const template = fc
      .tuple(fc.nat(whole.chat_template.length), words, fc.nat(12))
      .map(([at, word, gone]) => whole.chat_template.slice(0, at) + word + whole.chat_template.slice(at + gone));
    const broken = template.map((chat_template) => ({ ...whole, chat_template }));
    return fc.oneof(spoiledJson(whole), broken).map((json) => ({ name, text: JSON.stringify(json) }));
  });
  fc.assert(
    fc.property(spoiled, ({ name, text }) => {
      const seen = outcome(name, 'tokenizer_config.json', text, useAll);
      expect(['accepted', 'chat-template-missing, without its file', ...OF_TEMPLATES]).toContain(seen.split(':')[0]);
    }),
    { numRuns: 2 * RUNS },
  );
});

test.each([
  [':3:15: no JSON: unexpected "\\n"', '{\n  "version": "1.0",\n  "model": nul\n}'],
  [':1:9: no JSON: byte 0xff is no UTF-8', '{"a": "x\xff"}'],
  [':1:1: no JSON: it begins with a byte order mark', '\xef\xbb\xbf{}'],
  [': expected an object', '[1]'],
  [', model.vocab.b: the id 0 is that of "a" too', '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}}'],
  [', model.merges[0]: "b" is no token of the vocabulary', '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}'],
  [', added_tokens[0].id: expected int, received number', '{"model": {"vocab": {}}, "added_tokens": [{"id": 1.5}]}'],
  [', model.type: expected string, received null', '{"model": {"vocab": {}, "type": null}}'],
  [': more than 20 lists and objects inside of each other', `{"normalizer": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('a bad file is refused with its place: tokenizer.json%s', (place, text) => {
  writeFileSync(join(dir, 'tokenizer.json'), Buffer.from(text, 'latin1'));
  expect(() => loadTokenizer(dir)).toThrow(
    expect.objectContaining({ code: 'tokenizer-malformed', message: expect.stringContaining(`${join(dir, 'tokenizer.json')}${place}`) }),
  );
});

test('a special token that the vocabulary does not have is told, and not left out', () => {
  const text = JSON.stringify({ eos_token: { content: '<|gone|>' } });
  expect(outcome('tiny', 'tokenizer_config.json', text, useAll)).toBe('tokenizer-malformed');
});

test('the chat template can lie in a file of its own, or be one of several', () => {
  for (const one of FILES) writeFileSync(join(dir, one), good('tiny', one));
  const rendered = () => loadTokenizer(dir).applyChatTemplate(HELLO, { addGenerationPrompt: false });
  expect(rendered()).toBe('<|bos|><|user|>a é');
  const list = [
    { name: 'tool_use', template: 'tools' },
    { name: 'default', template: '{{ messages[0].content }}!' },
  ];
  writeFileSync(
    join(dir, 'tokenizer_config.json'),
    JSON.stringify({ ...JSON.parse(good('tiny', 'tokenizer_config.json')), chat_template: list }),
  );
  expect(rendered()).toBe('a é!');
  writeFileSync(join(dir, 'chat_template.jinja'), 'file {{ messages | length }}');
  expect(rendered()).toBe('file 1');
  rmSync(join(dir, 'chat_template.jinja'));
});
