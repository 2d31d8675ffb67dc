/** Two answers piece by piece, column under column, with the margins as a strip above and the place where they part marked. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { JsonFailure } from '../../root-causes.ts';
import { Scroll } from './scroll.tsx';
import { Visible, visibleText } from './visible.tsx';

type Answer = NonNullable<JsonFailure['answers']>[number];
type Piece = Answer['pieces'][number];

/** Further away than this a column is left out on paper, which cannot be scrolled. */
const ON_PAPER = 6;
/** In nats; a margin above it is far from any flip, and the bar is full. */
const FULL_MARGIN = 10;

export function Divergence({ answers }: { readonly answers: readonly Answer[] }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  // Columns are counted from the place where the answers part, so that it stands in one column on both sides.
  const before = Math.max(...answers.map(({ at }) => at));
  const after = Math.max(...answers.map(({ pieces, at }) => pieces.length - at));
  const columns = Array.from({ length: before + Math.max(1, after) }, (_, i) => i - before);
  const cell = (answer: Answer, column: number) => answer.pieces[answer.at + column];
  const margins = answers.filter(({ pieces }) => pieces.some(({ margin }) => margin !== undefined));
  useLayoutEffect(() => {
    const box = scroller.current;
    const place = box?.querySelector<HTMLElement>('.parted');
    if (box !== null && place instanceof HTMLElement) box.scrollLeft = place.offsetLeft - box.clientWidth / 2;
  }, []);
  return (
    <figure class="divergence">
      <figcaption>
        The answers part at{' '}
        {visibleText(answers.map((answer) => `${unitOf(answer)} ${answer.first + answer.at} of ${answer.name}`).join(', '))}
      </figcaption>
      <Scroll label="Both answers, piece by piece" box={scroller}>
        <table>
          <tbody>
            {margins.map((answer) => (
              <tr key={`margin ${answer.name}`} class="margins">
                <th scope="row">margin</th>
                {columns.map((column) => (
                  <td key={column} class={farAway(column)}>
                    <Margin margin={cell(answer, column)?.margin} />
                  </td>
                ))}
              </tr>
            ))}
            {answers.map((answer) => (
              <tr key={answer.name} class="pieces">
                <th scope="row">
                  <Visible text={answer.name} />
                  <small>{answer.of === 'tokens' ? `${answer.total} tokens` : `${answer.total} events`}</small>
                </th>
                {columns.map((column) => (
                  <td key={column} class={`${column === 0 ? 'parted' : column > 0 ? 'after' : ''} ${farAway(column)}`}>
                    <PieceCell piece={cell(answer, column)} ends={answer.at + column === answer.pieces.length} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </figure>
  );
}

function farAway(column: number): string {
  return Math.abs(column) > ON_PAPER ? 'far' : '';
}

function unitOf({ of }: Answer): string {
  return of === 'tokens' ? 'token' : 'event';
}

function PieceCell({ piece, ends }: { readonly piece: Piece | undefined; readonly ends: boolean }): JSX.Element | null {
  if (piece === undefined)
    return ends ? (
      <span class="end" title="the answer ends here">
        ∎
      </span>
    ) : null;
  return (
    <>
      <span class="piece">
        {piece.bytes === undefined ? (
          <Visible text={piece.text} edges />
        ) : (
          <span class="bytes" title="a part of a character">
            {piece.bytes.replace(/..(?=.)/g, '$& ')}
          </span>
        )}
      </span>
      {piece.id !== undefined && <small>{piece.id}</small>}
    </>
  );
}

function Margin({ margin }: { readonly margin: number | undefined }): JSX.Element | null {
  if (margin === undefined) return null;
  const share = Math.min(1, Math.max(0, margin / FULL_MARGIN));
  return (
    <span class={`margin ${margin < 0.5 ? 'small' : ''}`} title={`margin ${margin.toPrecision(3)}`}>
      <i style={{ height: `${Math.max(4, share * 100)}%` }} />
      <small>{margin < 0.001 && margin > 0 ? margin.toExponential(0) : margin.toPrecision(2)}</small>
    </span>
  );
}
