import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { lockstepHere } from './testing.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-review-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const tokenizer = loadTokenizer(TINY_CHECKPOINT);
const IDENTITY = { triton: '9.9.9' };

/** A copy of this project's goldens, and an upgrade whose new side changed the last token of the first three. */
function upgraded(name: string) {
  const goldensDir = join(cwd, name);
  cpSync(join(PACKAGE_ROOT, 'goldens'), goldensDir, { recursive: true });
  const store = () => goldenStore({ goldensDir, tokenizer });
  const changed = [...store().load(GREEDY).values()]
    .filter(({ answer }) => answer.ids.length > 2)
    .slice(0, 3)
    .map(({ request, answer }) => ({ request, before: answer, answer: { ...answer, ids: answer.ids.with(-1, 7), text: 'another' } }));
  const items = changed.map(({ request, answer }) => ({ request, kind: 'any', answer, repeats: [] }));
  const side = {
    name: 'new',
    recordedAt: '2026-01-01T00:00:00Z',
    identity: IDENTITY,
    answers: { notServed: '', margins: true, items },
    missing: [],
  };
  const differences = changed.map(({ request, before, answer }) => ({
    request: request.id,
    prompt: 'p',
    verdict: 'near-tie',
    text: 't',
    before,
    after: answer,
  }));
  const file = join(cwd, `${name}.json`);
  writeFileSync(file, JSON.stringify({ schema: 1, kind: 'upgrade', from: side, to: side, answers: { differences } }));
  return { goldensDir, store, file, changed, ids: changed.map(({ request }) => request.id) };
}

const decide = (name: string, decisions: object): string => {
  const path = join(cwd, `${name}-decisions.json`);
  writeFileSync(path, JSON.stringify(decisions));
  return path;
};

test('what is accepted becomes the golden, under the new identity; what is rejected stays', async () => {
  const { goldensDir, store, file, changed, ids } = upgraded('all');
  const [a, b, c] = ids as [string, string, string];
  const decisions = decide('all', { [a]: 'accept', [b]: 'reject', [c]: 'accept' });
  const ended = await lockstepHere(cwd, ['goldens', 'review', file, '--goldens', goldensDir, '--decisions', decisions]);
  expect(ended).toMatchObject({ code: 0, error: '' });
  expect(ended.out).toContain('2 accepted, 1 rejected, 0 open');
  const after = store();
  const goldens = after.load(GREEDY);
  expect(goldens.get(a)!.answer).toEqual(changed[0]!.answer);
  expect(goldens.get(b)!.answer).toEqual(changed[1]!.before);
  expect(after.provenance(goldens.get(c)!)!.identity).toEqual(IDENTITY);
  // Nothing is asked twice.
  const again = await lockstepHere(cwd, [
    'goldens',
    'review',
    file,
    '--goldens',
    goldensDir,
    '--decisions',
    decide('again', { [b]: 'reject' }),
  ]);
  expect(again.out).toContain('0 accepted, 1 rejected, 0 open');
});

test('what is not decided is open, and exit code 1', async () => {
  const { goldensDir, file, ids } = upgraded('some');
  const ended = await lockstepHere(cwd, [
    'goldens',
    'review',
    file,
    '--goldens',
    goldensDir,
    '--decisions',
    decide('some', { [ids[0]!]: 'reject' }),
  ]);
  expect([ended.code, ended.out.includes('0 accepted, 1 rejected, 2 open')]).toEqual([1, true]);
});

test.each([
  ['a decision about something else', { nope: 'accept' }, /\[decisions-unreadable\] .*decides nope/],
  ['a decision that is none', { nope: 'maybe' }, /\[decisions-unreadable\] .*nope: /],
])('%s writes nothing', async (name, decisions, error) => {
  const { goldensDir, store, file, ids, changed } = upgraded(name.replaceAll(' ', '-'));
  const ended = await lockstepHere(cwd, [
    'goldens',
    'review',
    file,
    '--goldens',
    goldensDir,
    '--decisions',
    decide('bad', { [ids[0]!]: 'accept', ...decisions }),
  ]);
  expect(ended.code).toBe(2);
  expect(ended.error).toMatch(error);
  expect(store().load(GREEDY).get(ids[0]!)!.answer).toEqual(changed[0]!.before);
});

test.each([
  ['no JSON', 'x', /\[upgrade-unreadable\] .* is no JSON/],
  ['of a newer version', '{"schema": 2, "kind": "upgrade"}', /\[upgrade-unreadable\] .*newer version: its schema is 2/],
  ['cut short', '{"schema": 1, "kind": "upgrade", "from": {"name": "a"}}', /\[upgrade-unreadable\] .*from\.recordedAt/],
])('a file that is %s is refused', async (_, text, error) => {
  const file = join(cwd, 'broken.json');
  writeFileSync(file, text);
  const ended = await lockstepHere(cwd, ['goldens', 'review', file]);
  expect(ended.code).toBe(2);
  expect(ended.error).toMatch(error);
  expect(existsSync(join(cwd, 'decisions.json'))).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
