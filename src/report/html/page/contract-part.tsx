import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { UpgradeView } from '../page-data.ts';
import { FilterField } from './filter-field.tsx';
import { plural } from './format.ts';
import { Opens } from './opens.tsx';
import { Table } from './table.tsx';
import { Visible } from './visible.tsx';

type Contract = NonNullable<UpgradeView['contract']>;
type Difference = Contract['differences'][number];

const CLASSES = ['fatal', 'breaking', 'behaviour', 'addition'] as const;
const SAYS = {
  fatal: 'requests that were answered hang, or kill the server',
  breaking: 'what was accepted is refused, or what readers match is another',
  behaviour: 'another text or value',
  addition: 'something new',
};
const CHANGES_SHOWN = 20;

/** The contract diff: every change by class, who is hit, and the raw exchanges that show it. */
export function ContractPart({ contract }: { readonly contract: Contract }): JSX.Element {
  const { differences, compared, varying, notCompared } = contract;
  const [words, setWords] = useState('');
  const shown = useMemo(() => differences.filter((one) => matches(one, words)), [differences, words]);
  return (
    <>
      <p class="lead">
        {plural(compared, 'exchange')} made on both sides; {plural(varying, 'fact')} varied within one side and count for nothing.
      </p>
      <form class="filter" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterField words={words} of="change or exchange" onWords={setWords} />
        <output>{plural(shown.length, 'difference')}</output>
      </form>
      {CLASSES.map((kind) => {
        const of = shown.filter((one) => classOf(one) === kind);
        return (
          of.length > 0 && (
            <div key={kind}>
              <h3>
                {kind} <small>{SAYS[kind]}</small>
              </h3>
              <ul class="claims">
                {of.map((one) => (
                  <li key={one.id} class={`difference ${kind}`}>
                    <DifferenceView difference={one} />
                  </li>
                ))}
              </ul>
            </div>
          )
        );
      })}
      {notCompared.length > 0 && (
        <Opens summary={`${plural(notCompared.length, 'exchange')} of one side alone`}>
          {() => (
            <Table label="Exchanges of one side alone" head={['exchange', 'why']} rows={notCompared.map(({ id, why }) => [id, why])} />
          )}
        </Opens>
      )}
    </>
  );
}

function DifferenceView({ difference: { title, who, changes, exchanges, known } }: { readonly difference: Difference }): JSX.Element {
  return (
    <Opens
      summary={
        <>
          <Visible text={title} /> <small class="where">{plural(changes.length, 'place')}</small>
        </>
      }
    >
      {() => (
        <div class="claim-body">
          <p>
            Hit: <Visible text={who} />
          </p>
          {known.map((row) => (
            <p key={row} class="where">
              known: <Visible text={row} />
            </p>
          ))}
          <Table
            label="Changes"
            head={['exchange', 'fact', 'before', 'after']}
            rows={changes
              .slice(0, CHANGES_SHOWN)
              .map(({ probe, fact, before, after }) => [probe, fact, before ?? '(none)', after ?? '(none)'])}
          />
          {changes.length > CHANGES_SHOWN && <p class="where">and {changes.length - CHANGES_SHOWN} more, in the JSON</p>}
          {exchanges.map(({ request, before, after }, i) => (
            <Opens key={i} summary="The raw exchange" open={i === 0}>
              {() => (
                <div class="exchange">
                  {Object.entries({ request, before, after }).map(([name, text]) => (
                    <div key={name}>
                      <h4>{name}</h4>
                      <pre class="command">
                        <Visible text={text} lines />
                      </pre>
                    </div>
                  ))}
                </div>
              )}
            </Opens>
          ))}
        </div>
      )}
    </Opens>
  );
}

function classOf({ fatal, kind }: Difference): (typeof CLASSES)[number] {
  return fatal ? 'fatal' : kind;
}

function matches({ title, who, changes }: Difference, words: string): boolean {
  const text = [title, who, ...changes.flatMap(({ probe, fact }) => [probe, fact])].join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
