import type { JSX } from 'preact';
import { formatBound } from '#core/stats/format-bound.ts';
import type { UpgradeView } from '../page-data.ts';
import { Copy } from './copy.tsx';
import { plural } from './format.ts';
import { Opens } from './opens.tsx';
import { Table } from './table.tsx';
import { Visible } from './visible.tsx';

type Answers = NonNullable<UpgradeView['answers']>;
const SHOWN = 100;

/** Old answers against new ones: how many differ, whether margins explain it, and each of them. */
export function AnswersPart({ answers }: { readonly answers: Answers }): JSX.Element {
  const { from, to, across, counts, shift, forced, differences, kinds } = answers;
  const row = (what: string, { k, n, bound, perToken }: Answers['across']) => [
    what,
    `${k} of ${n}`,
    n === 0 ? '' : `≤ ${formatBound(bound)}`,
    n === 0 ? '' : `≤ ${formatBound(perToken)}`,
  ];
  const rows = [row('old against itself', from), row('new against itself', to), row('old against new', across)];
  const told = Object.entries(counts).filter(([, n]) => n > 0);
  return (
    <>
      <Table label="Divergences" head={['', 'differ', 'of answers (95 %)', 'of tokens (95 %)']} rows={rows} />
      <p class="legend">
        {told.map(([verdict, n]) => `${n} ${verdict}`).join(', ')}
        {shift !== undefined &&
          ` · log-probabilities of equal positions moved by up to ${shift.quantile99Bound.toPrecision(2)} nats (99 %), over ${plural(shift.positions, 'position')}`}
        {forced !== undefined &&
          ` · led along the old answers: ${forced.flips} flips at ${plural(forced.positions, 'position')}, ${forced.unexplained} not explained by a margin`}
      </p>
      {kinds.some(({ k }) => k > 0) && (
        <Table
          label="Kinds of prompts"
          head={['kind of prompt', 'differ', 'q (Benjamini–Hochberg)']}
          rows={kinds.filter(({ k }) => k > 0).map(({ kind, k, n, q }) => [kind, `${k} of ${n}`, q.toPrecision(2)])}
        />
      )}
      {differences.length > 0 && (
        <ul class="claims">
          {differences.slice(0, SHOWN).map((one) => (
            <li key={one.request} class="difference">
              <Opens
                summary={
                  <>
                    <b class={`cell ${one.verdict}`}>{one.verdict}</b> <code>{one.request}</code> <Visible text={one.text} />
                  </>
                }
              >
                {() => (
                  <div class="claim-body">
                    <blockquote>
                      <Visible text={one.prompt} lines />
                    </blockquote>
                    <div class="exchange">
                      {Object.entries({ before: one.before, after: one.after }).map(([name, { text, finish, ids }]) => (
                        <div key={name}>
                          <h4>
                            {name} <small>{`${plural(ids.length, 'token')}, ${finish}`}</small>
                          </h4>
                          <pre class="command">
                            <Visible text={text} lines />
                          </pre>
                          <Copy label="ids" text={ids.join(',')} />
                        </div>
                      ))}
                    </div>
                  </div>
                )}
              </Opens>
            </li>
          ))}
        </ul>
      )}
      {differences.length > SHOWN && <p class="where">and {differences.length - SHOWN} more, in the JSON</p>}
    </>
  );
}
