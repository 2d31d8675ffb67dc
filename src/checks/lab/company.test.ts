import { expect, test } from 'vitest';
import type { Case } from '#core/request/index.ts';
import { CompanyBook } from './company.ts';

const named = (id: string): Case => ({
  request: { id, prompt: { kind: 'text', text: id }, sampling: { kind: 'greedy' }, limits: { maxTokens: 1 } },
  route: 'raw',
  mode: 'stream',
  repeat: 0,
});
const ids = (list: readonly { readonly case: Case }[]) => list.map((c) => c.case.request.id);

test('the company of a case is what was over before it began, and what ran while it did, by when it began', () => {
  const book = new CompanyBook();
  book.begin(named('first'), { logProbs: true })();
  const endLong = book.begin(named('long'), {});
  const endCase = book.begin(named('case'), {});
  const endLate = book.begin(named('late'), { cancel: { how: 'leave', afterEvents: 2 } });
  endLong();
  const { before, beside } = endCase();
  endLate();
  expect(ids(before)).toEqual(['first']);
  expect(before[0]?.asked).toEqual({ logProbs: true });
  expect(ids(beside)).toEqual(['long', 'late']);
  expect(beside[1]?.asked).toEqual({ cancel: { how: 'leave', afterEvents: 2 } });
});

test('of what is over the last 64 are remembered', () => {
  const book = new CompanyBook();
  for (let i = 0; i < 70; i++) book.begin(named(`r${i}`), {})();
  expect(ids(book.begin(named('case'), {})().before)).toEqual(Array.from({ length: 64 }, (_, i) => `r${i + 6}`));
});
