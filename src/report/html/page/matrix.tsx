/** Which request got the accepted answer on which route. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunData } from '../page-data.ts';
import { plural } from './format.ts';
import { Opens } from './opens.tsx';
import { Scroll } from './scroll.tsx';
import { Visible } from './visible.tsx';

type Case = NonNullable<RunData['report']['claims'][number]['cases']>[number];
type Verdict = Case['verdict'];

/** From best to worst. */
const VERDICTS: readonly Verdict[] = ['identical', 'tie', 'near-tie', 'unjudged', 'unexplained', 'structural', 'contaminated'];
const GLYPHS: Readonly<Record<Verdict, string>> = {
  identical: '✓',
  tie: '=',
  'near-tie': '≈',
  unjudged: '?',
  unexplained: '✗',
  structural: '!',
  contaminated: '☣',
};

interface Cell {
  readonly n: number;
  readonly differed: number;
  readonly worst: Verdict;
}

export function Matrix({ cases }: { readonly cases: readonly Case[] }): JSX.Element {
  const { routes, rows } = useMemo(() => tabulated(cases), [cases]);
  const differing = rows.filter(([, cells]) => [...cells.values()].some(({ differed }) => differed > 0));
  const agreeing = rows.filter(([, cells]) => [...cells.values()].every(({ differed }) => differed === 0));
  return (
    <>
      <p class="lead">
        {plural(cases.length, 'answer')} to {plural(rows.length, 'request')} on {plural(routes.length, 'route')}, each compared with the
        accepted one. {differing.length === 0 ? 'All agree.' : `${plural(differing.length, 'request')} did not get it everywhere.`}
      </p>
      <p class="legend">
        {VERDICTS.map((verdict) => (
          <span key={verdict}>
            <b class={`cell ${verdict}`}>{GLYPHS[verdict]}</b> {verdict}{' '}
          </span>
        ))}
      </p>
      {differing.length > 0 && <Table routes={routes} rows={differing} caption="Requests that differ somewhere" />}
      {agreeing.length > 0 && (
        <Opens
          summary={`${plural(agreeing.length, 'request')} with one answer everywhere`}
          open={differing.length === 0 && agreeing.length <= 40}
        >
          {() => <Table routes={routes} rows={agreeing} caption="Requests with one answer everywhere" />}
        </Opens>
      )}
    </>
  );
}

function Table(props: {
  readonly routes: readonly string[];
  readonly rows: readonly (readonly [string, ReadonlyMap<string, Cell>])[];
  readonly caption: string;
}): JSX.Element {
  const { routes, rows, caption } = props;
  return (
    <Scroll label={caption}>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">request</th>
            {routes.map((route) => (
              <th key={route} scope="col">
                <Visible text={route} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([request, cells]) => (
            <tr key={request}>
              <th scope="row">
                <Visible text={request} />
              </th>
              {routes.map((route) => (
                <td key={route}>{cells.has(route) && <CellView cell={cells.get(route) as Cell} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function CellView({ cell: { n, differed, worst } }: { readonly cell: Cell }): JSX.Element {
  const told = differed === 0 ? `${n} of ${n} identical` : `${differed} of ${n} differed, at worst ${worst}`;
  return (
    <span class={`cell ${worst}`} title={told} role="img" aria-label={told}>
      {GLYPHS[worst]}
      {differed > 0 && n > 1 && (
        <small>
          {differed}/{n}
        </small>
      )}
    </span>
  );
}

function tabulated(cases: readonly Case[]) {
  const byRequest = new Map<string, Map<string, Cell>>();
  const routes: string[] = [];
  for (const { request, route, verdict } of cases) {
    if (!routes.includes(route)) routes.push(route);
    const cells = byRequest.get(request) ?? new Map<string, Cell>();
    byRequest.set(request, cells);
    const { n, differed, worst } = cells.get(route) ?? { n: 0, differed: 0, worst: 'identical' };
    const worse = VERDICTS.indexOf(verdict) > VERDICTS.indexOf(worst) ? verdict : worst;
    cells.set(route, { n: n + 1, differed: differed + (verdict === 'identical' ? 0 : 1), worst: worse });
  }
  const differedOf = (cells: ReadonlyMap<string, Cell>) => [...cells.values()].reduce((sum, { differed }) => sum + differed, 0);
  const rows = [...byRequest].sort(([a, x], [b, y]) => differedOf(y) - differedOf(x) || (a < b ? -1 : 1));
  return { routes, rows };
}
