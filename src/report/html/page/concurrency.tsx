import type { JSX } from 'preact';
import { clopperPearsonUpper } from '#core/stats/clopper-pearson.ts';
import { formatBound } from '#core/stats/format-bound.ts';
import { zeroDivergenceBound } from '#core/stats/zero-divergence-bound.ts';
import type { RunData } from '../page-data.ts';
import { EvidenceBar } from './evidence-bar.tsx';
import { Scroll } from './scroll.tsx';

type Case = NonNullable<RunData['report']['claims'][number]['cases']>[number];

/** How many answers differed, by how many requests were in flight at once: a defect of batching shows as a slope. */
export function Concurrency({ cases }: { readonly cases: readonly Case[] }): JSX.Element {
  const groups = [...Map.groupBy(cases, ({ atOnce }) => atOnce)].sort(([a], [b]) => a - b);
  return (
    <>
      <p class="lead">
        Every compared answer, by how many requests were in flight with it. A batch that changes answers shows as rates that grow downwards.
      </p>
      <Scroll label="Divergence by concurrency">
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">at once</th>
              <th scope="col">answers</th>
              <th scope="col">differed</th>
              <th scope="col">rate</th>
              <th scope="col">at most (95 %)</th>
              <th scope="col">
                <span class="for-screen-readers">rate and bound as a bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {groups.map(([atOnce, members]) => {
              const n = members.length;
              const k = members.filter(({ verdict }) => verdict !== 'identical').length;
              const bound = k === 0 ? zeroDivergenceBound(n) : clopperPearsonUpper(k, n);
              return (
                <tr key={atOnce}>
                  <td>{atOnce === 1 ? 'alone' : atOnce}</td>
                  <td>{n}</td>
                  <td>{k}</td>
                  <td>{((100 * k) / n).toFixed(1)} %</td>
                  <td>{formatBound(bound)}</td>
                  <td>
                    <EvidenceBar evidence={{ n, k, bound, unit: 'answers', notes: [] }} status={k > 0 ? 'failed' : 'held'} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
