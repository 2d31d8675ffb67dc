import type { ComponentChildren, JSX } from 'preact';
import { Scroll } from './scroll.tsx';
import { Visible } from './visible.tsx';

export interface TableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | JSX.Element)[])[];
}

/** Texts as they are, elements as they are made. */
export function Table({ label, head, rows }: TableProps): JSX.Element {
  const cell = (content: string | JSX.Element): ComponentChildren => (typeof content === 'string' ? <Visible text={content} /> : content);
  return (
    <Scroll label={label}>
      <table class="numbers">
        <thead>
          <tr>
            {head.map((name, i) => (
              <th key={i} scope="col">
                {name === '' ? <span class="for-screen-readers">what</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((content, k) => (
                <td key={k}>{cell(content)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
