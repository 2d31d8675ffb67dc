import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { loadTokenizer } from './index.ts';

const dir = mkdtempSync(join(tmpdir(), 'lockstep tokenizer '));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function outcome(file: string, text: string): string {
  const other = file === 'tokenizer.json' ? 'tokenizer_config.json' : 'tokenizer.json';
  writeFileSync(join(dir, other), readFileSync(join(TINY_CHECKPOINT, other)));
  writeFileSync(join(dir, file), text);
  try {
    const tokenizer = loadTokenizer(dir);
    tokenizer.decode(tokenizer.encode('a b', { addSpecialTokens: true }));
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof LockstepError)) return `a defect: ${String(thrown)}`;
    return `${thrown.code}${thrown.hint === undefined ? ', without a next step' : ''}${thrown.message.includes(dir) ? '' : ', without its file'}`;
  }
}

const KNOWN = /^(accepted|tokenizer-malformed|tokenizer-inexact)$/;

test('a tokenizer of any content is read or refused by name', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('tokenizer.json', 'tokenizer_config.json'),
      fc.oneof(
        fc.string(),
        fc.jsonValue().map((value) => JSON.stringify(value)),
      ),
      (file, text) => {
        expect(outcome(file, text)).toMatch(KNOWN);
      },
    ),
    { numRuns: 60 },
  );
});

test('so is a good one of which one part was replaced', () => {
  const good = readFileSync(join(TINY_CHECKPOINT, 'tokenizer.json'), 'utf8');
  const parts = Object.keys(JSON.parse(good) as object);
  fc.assert(
    fc.property(fc.constantFrom(...parts), fc.jsonValue(), (part, value) => {
      expect(outcome('tokenizer.json', JSON.stringify({ ...(JSON.parse(good) as object), [part]: value }))).toMatch(KNOWN);
    }),
    { numRuns: 25 },
  );
});
