import type { JSX } from 'preact';
import type { UpgradeView } from '../page-data.ts';
import { plural } from './format.ts';
import { Table } from './table.tsx';

type Runs = NonNullable<UpgradeView['runs']>;

/** Every claim and known gap that is not on one side what it is on the other, and those that fail on both. */
export function LawsPart({ runs }: { readonly runs: Runs }): JSX.Element {
  const claims: readonly (readonly [string, Runs['mended']])[] = [
    ['Fail now', runs.newlyBroken],
    ['Fail on both sides', runs.stillBroken],
    ['Hold now', runs.mended],
    ['Cannot be asked any more', runs.notServedAnyMore],
    ['Can be asked now', runs.newlyServed],
  ];
  const gaps: readonly (readonly [string, Runs['gaps']['new']])[] = [
    ['Known gaps of the new side alone', runs.gaps.new],
    ['Known gaps of the old side alone', runs.gaps.fixed],
    ['Known gaps of both', runs.gaps.still],
  ];
  return (
    <>
      <p class="lead">
        {runs.held} of {plural(runs.judged, 'claim')} judged on both sides hold on both; McNemar p = {runs.p.toPrecision(2)}.
      </p>
      {claims.map(
        ([title, of]) =>
          of.length > 0 && (
            <div key={title}>
              <h3>{title}</h3>
              <Table
                label={title}
                head={['claim', 'what', 'laws']}
                rows={of.map(({ id, statement, text, laws }) => [id, text === '' ? statement : text, laws.join(', ')])}
              />
            </div>
          ),
      )}
      {gaps.map(
        ([title, of]) =>
          of.length > 0 && (
            <div key={title}>
              <h3>{title}</h3>
              <Table label={title} head={['gap', 'law', 'thread']} rows={of.map(({ id, law, thread }) => [id, law, thread])} />
            </div>
          ),
      )}
    </>
  );
}
