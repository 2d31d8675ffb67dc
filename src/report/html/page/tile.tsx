import type { JSX } from 'preact';

/** A count on a first screen that leads to what was counted. */
export function Tile({
  n,
  word,
  kind,
  href,
}: {
  readonly n: number;
  readonly word: string;
  readonly kind: string;
  readonly href: string;
}): JSX.Element {
  return (
    <li>
      <a class={`tile ${kind}`} href={href}>
        <strong>{n.toLocaleString('en')}</strong> {word}
      </a>
    </li>
  );
}
