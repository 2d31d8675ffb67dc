import { expect, test } from 'vitest';
import { type JsonFailure, rootCauses } from './root-causes.ts';

type Claim = Parameters<typeof rootCauses>[0][number];
type Answer = NonNullable<JsonFailure['answers']>[number];

const claim = (id: string, failures: readonly JsonFailure[]): Claim => ({
  id,
  suite: 'streaming',
  statement: '',
  file: '',
  routes: [],
  laws: [],
  status: 'failed',
  evidence: { n: 9, k: 1, unit: 'answers', notes: [] },
  failures: [...failures],
  gaps: [],
  gapsGone: [],
  durationMs: 1,
});

const answer = (name: string, texts: readonly string[], at: number): Answer => ({
  name,
  of: 'events',
  first: 0,
  total: texts.length,
  at,
  pieces: texts.map((text) => ({ text })),
});
const failure = (law: string, code: string, accepted?: readonly string[], observed: readonly string[] = [], at = 0): JsonFailure => ({
  law,
  code,
  text: '',
  ...(accepted === undefined ? {} : { answers: [answer('accepted', accepted, at), answer('observed', observed, at)] }),
});

test('failures of one law and code are one cause, over claims; other codes are others', () => {
  const causes = rootCauses([
    claim('a', [failure('cancel-frees', 'blocks-held'), failure('cancel-frees', 'ran-on')]),
    claim('b', [failure('cancel-frees', 'blocks-held')]),
  ]);
  expect(causes.map(({ title, claims, members }) => [title, claims, members.length])).toEqual([
    ['cancel-frees · blocks-held', ['streaming/a', 'streaming/b'], 2],
    ['cancel-frees · ran-on', ['streaming/a'], 1],
  ]);
});

test('a broken character is one cause, whichever laws see it', () => {
  const broken = (law: string) => failure(law, 'text', ['Is', 'î'], ['Is', '\ufffd\ufffd'], 1);
  const [cause, ...others] = rootCauses([claim('a', [broken('deltas-equal-whole')]), claim('b', [broken('no-broken-utf8')])]);
  expect(others).toEqual([]);
  expect(cause).toMatchObject({
    title: 'a character that is split over tokens came out as U+FFFD',
    laws: ['deltas-equal-whole', 'no-broken-utf8'],
  });
});

test('a piece that came twice is told from one that is right to come twice', () => {
  const twice = rootCauses([claim('a', [failure('golden', 'structural', ['a', 'b', 'c'], ['a', 'b', 'b', 'c'], 2)])]);
  const right = rootCauses([claim('a', [failure('golden', 'structural', ['ha', 'ha'], ['ha'], 1)])]);
  expect(twice[0]?.title).toBe('the last piece came once more');
  expect(right[0]?.title).toBe('golden · structural · the answer ends early');
});

test('answers that end early and answers that go on are two causes', () => {
  const early = failure('golden', 'structural', ['a', 'b'], ['a'], 1);
  const late = failure('golden', 'structural', ['a'], ['a', 'b'], 1);
  expect(rootCauses([claim('a', [early, late])]).map(({ title }) => title)).toEqual([
    'golden · structural · the answer ends early',
    'golden · structural · the answer goes on behind its end',
  ]);
});
