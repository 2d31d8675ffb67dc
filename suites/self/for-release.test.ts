import { expect, test } from 'vitest';
import { type Until, coded, forRelease, thrown } from '../protocol/for-release.ts';

interface Row {
  readonly status: number;
  readonly text?: RegExp;
  readonly until?: Until<Row>;
}

const ROW: Row = { status: 500, text: /new/, until: { '2.46': { text: /older/ }, '2.48': 'it hangs', '2.36': { status: 400 } } };

test('a row holds as it stands from the release on that no entry reaches', () => {
  expect(forRelease(ROW, '2.51')).toEqual({ row: ROW, leftOut: undefined });
  expect(forRelease(ROW, '2.49').leftOut).toBeUndefined();
});

test('every entry that reaches back to a release counts, the oldest last', () => {
  expect(forRelease(ROW, '2.47').leftOut).toBe('it hangs');
  expect(forRelease(ROW, '2.46')).toMatchObject({ row: { status: 500, text: /older/ }, leftOut: undefined });
  expect(forRelease(ROW, '2.36').row).toMatchObject({ status: 400, text: /older/ });
});

test('an exception names its instance as the release does, and the status beside it changes where it changed', () => {
  const row = thrown<Row>(/for model 'pre_0_0', message/, (text) => ({ text, ...coded(500) }));
  const of = (release: string) => {
    const { status, text } = forRelease(row, release).row;
    return [status, text?.source];
  };
  expect(of('2.51')).toEqual([500, "for model 'pre_0_0', message"]);
  expect(of('2.46')).toEqual([500, "for model instance 'pre_0_0', message"]);
  expect(of('2.41')).toEqual([400, "for model instance 'pre_0_0', message"]);
  expect(of('2.36')).toEqual([400, "for model instance 'pre_0', message"]);
});
