import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatBound } from '#core/stats/format-bound.ts';
import { hazardBound } from '#core/stats/hazard-bound.ts';
import type { HistoryRun } from '../../history.ts';
import { flakyClaims } from '../../flaky-claims.ts';
import { axis, Chart, type Colours } from './chart.tsx';
import { plural, when } from './format.ts';
import { Scroll } from './scroll.tsx';
import { Visible } from './visible.tsx';

const ROWS = 20;

/** Earlier runs of the same target: the hazard of a first divergence per token, and claims that held once and failed once. */
export function History({ runs }: { readonly runs: readonly HistoryRun[] }): JSX.Element {
  const flaky = useMemo(() => flakyClaims(runs), [runs]);
  const data = useMemo(() => trend(runs), [runs]);
  return (
    <>
      <p class="lead">The last {plural(runs.length, 'run')} of this target; this one stands last.</p>
      <Chart label="Divergences per thousand tokens, run by run, with their 95 % bound" data={data} options={options} />
      <h3>Flaky claims</h3>
      {flaky.length === 0 ? (
        <p>None: no claim both held and failed on one and the same identity.</p>
      ) : (
        <Scroll label="Runs and claims">
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col">claim</th>
                <th scope="col">failed</th>
                <th scope="col">of runs</th>
                <th scope="col">last failure</th>
              </tr>
            </thead>
            <tbody>
              {flaky.map(({ claim, failed, runs: of, lastFailure }) => (
                <tr key={claim}>
                  <td>
                    <Visible text={claim} />
                  </td>
                  <td>{failed}</td>
                  <td>{of}</td>
                  <td>{when(lastFailure)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <details>
        <summary>The runs</summary>
        <Scroll label="Runs and claims">
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col">run</th>
                <th scope="col">outcome</th>
                <th scope="col">held</th>
                <th scope="col">failed</th>
                <th scope="col">tokens</th>
                <th scope="col">parted</th>
                <th scope="col">at most per token (95 %)</th>
              </tr>
            </thead>
            <tbody>
              {runs
                .slice(-ROWS)
                .toReversed()
                .map((run) => (
                  <tr key={run.at}>
                    <td>{when(run.at)}</td>
                    <td>{run.outcome}</td>
                    <td>{run.held.length}</td>
                    <td>{run.failed.length}</td>
                    <td>{run.tokens}</td>
                    <td>{run.parted}</td>
                    <td>{run.tokens === 0 ? '' : formatBound(hazardBound(run.parted, run.tokens))}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </>
  );
}

function trend(runs: readonly HistoryRun[]): uPlot.AlignedData {
  const perThousand = (value: number, { tokens }: HistoryRun) => (tokens === 0 ? null : 1000 * value);
  return [
    runs.map((_, i) => i - runs.length + 1),
    runs.map((run) => perThousand(run.parted / Math.max(1, run.tokens), run)),
    runs.map((run) => perThousand(hazardBound(run.parted, Math.max(1, run.tokens)), run)),
  ];
}

function options(colours: Colours): Omit<uPlot.Options, 'width' | 'height'> {
  return {
    scales: { x: { time: false }, y: { range: (_, __, high) => [0, Math.max(0.1, (high ?? 0) * 1.1)] } },
    axes: [
      axis(colours, { label: 'runs ago', values: (_, at) => at.map((v) => (Number.isInteger(v) ? String(-v) : '')) }),
      axis(colours, { label: 'per 1,000 tokens', size: 60 }),
    ],
    series: [
      { label: 'runs ago', value: (_, v) => (v === null ? '' : String(-v)) },
      { label: 'divergences', stroke: colours.bad, width: 2, points: { size: 6 } },
      { label: '95 % bound', stroke: colours.accent, width: 1, dash: [4, 4], points: { size: 4 } },
    ],
    cursor: { drag: { x: false, y: false } },
  };
}
