import type { JSX } from 'preact';
import { formatDuration } from '../../terminal/duration.ts';
import type { RootCause } from '../../root-causes.ts';
import type { RunData } from '../page-data.ts';
import { plural, when } from './format.ts';
import { Tile } from './tile.tsx';
import { Visible } from './visible.tsx';

type Report = RunData['report'];

/** The first screen: what came out, of what, and in which words a person would pass it on. */
export function Verdict({ report, causes }: { readonly report: Report; readonly causes: readonly RootCause[] }): JSX.Element {
  const { counts, header } = report;
  const unitFailed = counts.unitFailed > 0 || report.errors.length > 0;
  return (
    <header class={`verdict ${report.outcome}`}>
      <p class="brand">Lockstep</p>
      <h1>
        <span class="mark" aria-hidden="true">
          {report.outcome === 'held' ? '✓' : report.outcome === 'failed' ? '✗' : '!'}
        </span>{' '}
        {sentence(report)}
      </h1>
      <p class="subject">
        {header === undefined ? 'no target was started' : <Visible text={subject(header)} />} · {when(report.startedAt)} ·{' '}
        {formatDuration(report.durationMs)}
        {header === undefined ? '' : ` · seed ${header.seed}`}
      </p>
      <ul class="tiles">
        <Tile n={counts.held} word="held" kind="good" href="#claims" />
        <Tile n={counts.failed} word="failed" kind={counts.failed > 0 ? 'bad' : ''} href={counts.failed > 0 ? '#failed' : '#claims'} />
        {causes.length > 0 && <Tile n={causes.length} word={causes.length === 1 ? 'cause' : 'causes'} kind="bad" href="#failed" />}
        <Tile n={counts.notServed} word="not served" kind="" href="#claims" />
        <Tile n={counts.gapsMet} word="known gaps" kind={counts.gapsMet > 0 ? 'warn' : ''} href="#gaps" />
        {counts.unitPassed + counts.unitFailed > 0 && (
          <Tile
            n={counts.unitPassed}
            word={unitFailed ? `unit tests, ${counts.unitFailed} failed` : 'unit tests'}
            kind={unitFailed ? 'bad' : ''}
            href="#context"
          />
        )}
      </ul>
    </header>
  );
}

function sentence({ outcome, counts, claims }: Report): string {
  if (outcome === 'interrupted') return `Interrupted: ${plural(counts.held, 'claim')} held and ${counts.failed} failed before`;
  if (outcome === 'broken') return 'Nothing was judged';
  if (counts.failed > 0) return `${counts.failed} of ${plural(claims.length, 'claim')} failed`;
  if (outcome === 'failed') return `${plural(counts.unitFailed, 'unit test')} failed`;
  return `All ${plural(counts.held, 'claim')} hold`;
}

function subject({ target, identity, profile, faults }: NonNullable<Report['header']>): string {
  const known = ['triton', 'tensorrt-llm', 'gpu', 'image'].flatMap((key) => {
    const value = identity[key];
    return value === undefined || value === 'unknown' ? [] : [`${key} ${value}`];
  });
  return [`target ${target}`, ...known, `profile ${profile}`, ...(faults.length > 0 ? [`with ${faults.join(', ')}`] : [])].join(' · ');
}
