/** What was under test, what of it is not as it was, known gaps, unit tests, errors outside of tests. */
import type { JSX } from 'preact';
import type { RunData } from '../page-data.ts';
import { formatDuration } from '../../terminal/duration.ts';
import { plural } from './format.ts';
import { Table } from './table.tsx';
import { Visible } from './visible.tsx';

type Report = RunData['report'];

export function Context({ report }: { readonly report: Report }): JSX.Element {
  const { header, identityDifferences, gaps, gapsGone, units, errors } = report;
  return (
    <>
      {header !== undefined && (
        <Facts rows={[...Object.entries(header.identity), ...Object.entries(header.endpoints), ['goldens', header.goldens]]} />
      )}
      {identityDifferences.length > 0 && (
        <>
          <h3>The goldens were recorded on another identity</h3>
          <Table
            label="Context"
            head={['', 'goldens', 'target']}
            rows={identityDifferences.map(({ key, golden, target }) => [key, golden, target])}
          />
        </>
      )}
      <h3 id="gaps">Known gaps</h3>
      {gaps.length === 0 ? (
        <p>None was met.</p>
      ) : (
        <Table
          label="Context"
          head={['gap', 'law', 'met', 'thread']}
          rows={gaps.map(({ id, law, met, thread }) => [id, law, String(met), thread])}
        />
      )}
      {gapsGone.length > 0 && (
        <>
          <p>Exercised, and not there any more:</p>
          <Table label="Context" head={['gap', 'claim']} rows={gapsGone.map(({ gap, claim }) => [gap, claim])} />
        </>
      )}
      {units.length > 0 && (
        <>
          <h3>Tests that are no claims</h3>
          {units.map((unit) => (
            <div key={unit.project}>
              <p>
                <b>
                  <Visible text={unit.project} />
                </b>
                : {plural(unit.passed, 'passed', 'passed')}, {unit.failed} failed, {unit.skipped} skipped, {formatDuration(unit.durationMs)}
              </p>
              {unit.failures.map(({ name, file, message }, i) => (
                <div key={i}>
                  <p class="bad">
                    ✗{' '}
                    <code>
                      <Visible text={file} />
                    </code>{' '}
                    <Visible text={name} />
                  </p>
                  <Pre>{message}</Pre>
                </div>
              ))}
            </div>
          ))}
        </>
      )}
      {errors.length > 0 && (
        <>
          <h3>Errors outside of tests</h3>
          {errors.map((error, i) => (
            <Pre key={i}>{error}</Pre>
          ))}
        </>
      )}
    </>
  );
}

function Pre({ children }: { readonly children: string }): JSX.Element {
  return (
    <pre class="command" tabIndex={0} role="group" aria-label="message">
      <Visible text={children} lines />
    </pre>
  );
}

function Facts({ rows }: { readonly rows: readonly (readonly [string, string])[] }): JSX.Element {
  return (
    <dl class="facts identity">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd class={value === 'unknown' ? 'unknown' : ''}>
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
