import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { claimKey } from '../../claim-name.ts';
import { formatDuration } from '../../terminal/duration.ts';
import { formatEvidence } from '../../terminal/evidence.ts';
import type { RunData } from '../page-data.ts';
import { Copies } from './causes.tsx';
import { EvidenceBar, EvidenceLegend } from './evidence-bar.tsx';
import { FailureView } from './failure.tsx';
import { FilterField } from './filter-field.tsx';
import { plural } from './format.ts';
import { Opens } from './opens.tsx';
import { Visible, visibleText } from './visible.tsx';

type Claim = RunData['report']['claims'][number];

/** A suite of more is opened by hand: thousands of rows take longer to draw than anybody waits. */
const OPEN_ROWS = 100;
const STATUSES = ['failed', 'held', 'not-served'] as const;
const MARKS = { failed: '✗', held: '✓', 'not-served': '○' };

export function Claims({ claims }: { readonly claims: readonly Claim[] }): JSX.Element {
  const [words, setWords] = useState('');
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => filtered(claims, words, hidden), [claims, words, hidden]);
  const suites = useMemo(() => [...Map.groupBy(shown, ({ suite }) => suite)], [shown]);
  const narrowed = words !== '' || hidden.size > 0;
  const toggle = (status: string) => {
    const next = new Set(hidden);
    if (!next.delete(status)) next.add(status);
    setHidden(next);
  };
  return (
    <>
      <form class="filter" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterField words={words} of="claim, law or route" onWords={setWords} />
        {STATUSES.map((status) => (
          <label key={status}>
            <input type="checkbox" checked={!hidden.has(status)} onChange={() => toggle(status)} /> {status.replace('-', ' ')}
          </label>
        ))}
        <output>{plural(shown.length, 'claim')}</output>
      </form>
      <EvidenceLegend />
      {suites.map(([suite, rows]) => {
        const failed = rows.filter(({ status }) => status === 'failed').length;
        const open = rows.length <= OPEN_ROWS && (narrowed || failed > 0 || claims.length <= OPEN_ROWS);
        return (
          <Opens
            key={`${suite} ${open}`}
            open={open}
            onPaper
            class="suite"
            summary={
              <>
                <b>
                  <Visible text={suite} />
                </b>{' '}
                {plural(rows.length, 'claim')}
                {failed > 0 && <span class="bad">, {failed} failed</span>}
              </>
            }
          >
            {() => (
              <ul class="claims">
                {rows.map((claim) => (
                  <Row key={claimKey(claim.suite, claim.id)} claim={claim} />
                ))}
              </ul>
            )}
          </Opens>
        );
      })}
    </>
  );
}

function Row({ claim }: { readonly claim: Claim }): JSX.Element {
  const gaps = claim.gaps.filter(({ met }) => met > 0);
  return (
    <li class={`claim ${claim.status}`}>
      <Opens
        summary={
          <>
            <span class="mark" role="img" aria-label={claim.status.replace('-', ' ')}>
              {MARKS[claim.status]}
            </span>
            <span class="name">
              <Visible text={claim.id} />
              {gaps.length > 0 && <abbr title={visibleText(`known gaps: ${gaps.map(({ id }) => id).join(', ')}`)}> ~</abbr>}
            </span>
            <EvidenceBar evidence={claim.evidence} status={claim.status} />
            <span class="evidence">
              <Visible text={formatEvidence(claim)} />
            </span>
            <span class="time">{formatDuration(claim.durationMs)}</span>
          </>
        }
      >
        {() => (
          <div class="claim-body">
            <p>
              <Visible text={claim.statement} />
            </p>
            <p class="where">
              {claim.laws.length > 0 && (
                <>
                  laws <Visible text={claim.laws.join(', ')} /> ·{' '}
                </>
              )}
              {claim.routes.length > 0 && (
                <>
                  routes <Visible text={claim.routes.join(', ')} /> ·{' '}
                </>
              )}
              <code>
                <Visible text={claim.file} />
              </code>
            </p>
            {gaps.map(({ id, law, thread, met }) => (
              <p key={id} class="where">
                ~ known gap <Visible text={`${id} (${law}) met ${plural(met, 'time')}: ${thread}`} />
              </p>
            ))}
            {claim.failures.map((failure, i) => (
              <Opens
                key={i}
                open={i === 0}
                summary={visibleText(
                  `${failure.law || 'claim'} · ${failure.code}${failure.case === undefined ? '' : ` · ${failure.case.label}`}`,
                )}
              >
                {() => (
                  <>
                    <blockquote>
                      <Visible text={failure.text} lines />
                    </blockquote>
                    <Copies failure={failure} />
                    <FailureView failure={failure} />
                  </>
                )}
              </Opens>
            ))}
          </div>
        )}
      </Opens>
    </li>
  );
}

function filtered(claims: readonly Claim[], words: string, hidden: ReadonlySet<string>): readonly Claim[] {
  const parts = words
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== '');
  return claims.filter((claim) => {
    if (hidden.has(claim.status)) return false;
    if (parts.length === 0) return true;
    const text = [claimKey(claim.suite, claim.id), claim.statement, ...claim.laws, ...claim.routes].join(' ').toLowerCase();
    return parts.every((part) => text.includes(part));
  });
}
