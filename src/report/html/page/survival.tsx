import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { formatBound } from '#core/stats/format-bound.ts';
import { hazardBound } from '#core/stats/hazard-bound.ts';
import { type Followed, kaplanMeier } from '#core/stats/kaplan-meier.ts';
import type { RunData } from '../page-data.ts';
import { axis, Chart, type Colours } from './chart.tsx';
import { plural } from './format.ts';
import { Scroll } from './scroll.tsx';

type Case = NonNullable<RunData['report']['claims'][number]['cases']>[number];

/** Share of answers still equal at each token (Kaplan–Meier), route raw. */
export function Survival({ cases }: { readonly cases: readonly Case[] }): JSX.Element {
  const followed = useMemo(() => cases.map(({ tokens = 0, verdict }): Followed => ({ tokens, parted: verdict !== 'identical' })), [cases]);
  const tokens = followed.reduce((sum, one) => sum + one.tokens + (one.parted ? 1 : 0), 0);
  const parted = followed.filter((one) => one.parted).length;
  const data = useMemo(() => curve(followed), [followed]);
  const steps = useMemo(() => kaplanMeier(followed), [followed]);
  return (
    <>
      <p class="lead">
        {plural(followed.length, 'answer')} on raw, {plural(tokens, 'token')} compared up to the first difference of each; {parted} parted:
        at most {formatBound(hazardBound(parted, Math.max(1, tokens)))} per token (95 %).
      </p>
      <Chart label={`Share of answers still equal at each token: ${parted} of ${followed.length} parted`} data={data} options={options} />
      {steps.length > 0 && (
        <details>
          <summary>The numbers</summary>
          <Scroll label="Still equal, token by token">
            <table class="numbers">
              <thead>
                <tr>
                  <th scope="col">token</th>
                  <th scope="col">compared there</th>
                  <th scope="col">parted</th>
                  <th scope="col">still equal</th>
                  <th scope="col">95 % interval</th>
                </tr>
              </thead>
              <tbody>
                {steps.map((step) => (
                  <tr key={step.token}>
                    <td>{step.token}</td>
                    <td>{step.atRisk}</td>
                    <td>{step.parted}</td>
                    <td>{(100 * step.equal).toFixed(1)} %</td>
                    <td>
                      {(100 * step.low).toFixed(1)}–{(100 * step.high).toFixed(1)} %
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </details>
      )}
    </>
  );
}

function curve(followed: readonly Followed[]): uPlot.AlignedData {
  const steps = kaplanMeier(followed);
  const last = followed.reduce((most, { tokens }) => Math.max(most, tokens), 1);
  const rows = [{ token: 0, equal: 1, low: 1, high: 1 }, ...steps];
  const end = rows.at(-1) ?? { equal: 1, low: 1, high: 1 };
  if ((rows.at(-1)?.token ?? 0) < last) rows.push({ ...end, token: last });
  const column = (key: 'token' | 'equal' | 'low' | 'high') => rows.map((row) => (key === 'token' ? row.token : row[key] * 100));
  return [column('token'), column('equal'), column('low'), column('high')];
}

function options(colours: Colours): Omit<uPlot.Options, 'width' | 'height'> {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const paths = stepped === undefined ? {} : { paths: stepped };
  const points = { show: false };
  return {
    scales: { x: { time: false }, y: { range: (_, low) => [Math.max(0, Math.floor(Math.min(low, 99) / 5) * 5 - 1), 100.4] } },
    axes: [
      axis(colours, { label: 'token', values: (_, at) => at.map((v) => (Number.isInteger(v) ? String(v) : '')) }),
      axis(colours, { label: 'still equal, %', size: 60 }),
    ],
    series: [
      { label: 'token' },
      { label: 'still equal', stroke: colours.accent, width: 2, points, ...paths },
      { label: '95 % low', stroke: colours.shade, width: 1, points, ...paths },
      { label: '95 % high', stroke: colours.shade, width: 1, points, ...paths },
    ],
    bands: [{ series: [3, 2], fill: colours.shade }],
    legend: { show: true, live: true },
    cursor: { drag: { x: false, y: false } },
  };
}
