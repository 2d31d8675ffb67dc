import { compareReleases } from '#core/profile/index.ts';
import { show } from './expectations.ts';

/**
 * What releases before the one that a row speaks of answered, by the newest release that still did: the fields that were
 * other than in the entry above it (or in the row), or why the row cannot be asked there.
 */
export type Until<Row> = Readonly<Record<string, Partial<Row> | string>>;

export interface ForRelease<Row> {
  readonly row: Row;
  /** Why this release is not asked, as a phrase. */
  readonly leftOut: string | undefined;
}

/** The row as it holds for a release of the core: every entry that reaches back to it counts, the newest first. */
export function forRelease<Row extends { readonly until?: Until<Row> }>(row: Row, release: string): ForRelease<Row> {
  const { until = {} } = row;
  const reaching = Object.keys(until)
    .filter((last) => compareReleases(release, last) <= 0)
    .toSorted((a, b) => compareReleases(b, a));
  let result: ForRelease<Row> = { row, leftOut: undefined };
  for (const last of reaching) {
    const entry = until[last]!;
    result = typeof entry === 'string' ? { ...result, leftOut: entry } : { row: { ...result.row, ...entry }, leftOut: undefined };
  }
  return result;
}

/** A core error over HTTP has a status of its own since 2.42; before, it was 400 whatever its code. */
export function coded<Status extends number>(
  status: Status,
): { readonly status: Status; readonly until: Until<{ readonly status: number }> } {
  return { status, until: { '2.41': { status: 400 } } };
}

/**
 * A row about an exception in a Python model, whose text names the instance: `text` as since 2.47, and with it what the
 * releases before called the instance.
 */
export function thrown<Row extends { readonly until?: Until<Row> }>(text: RegExp, row: (text: RegExp) => Row): Row {
  const newest = row(text);
  /** The fields in which the text stands. */
  const called = (instance: string): Partial<Row> => {
    const other = row(new RegExp(text.source.replace(/model '(\w+?)_0_0'/, instance), text.flags));
    return Object.fromEntries(
      Object.entries(other).filter(([key, value]) => key !== 'until' && show(value) !== show(newest[key as keyof Row])),
    ) as Partial<Row>;
  };
  const until = { '2.46': called("model instance '$1_0_0'"), '2.36': called("model instance '$1_0'") };
  return { ...newest, until: { ...until, ...newest.until } };
}
