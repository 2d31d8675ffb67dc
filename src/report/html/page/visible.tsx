/** Text that a server sent, as text: what has no picture of its own gets one, and what changes direction changes nothing here. */
import type { JSX } from 'preact';

/** Controls, bidirectional marks, joiners, separators, broken characters. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const PICTURES: Readonly<Record<string, string>> = { '\n': '↵', '\t': '⇥', '\r': '␍', '\ufffd': '\ufffd' };

export interface VisibleProps {
  readonly text: string;
  /** Spaces at its start and end are shown, as a token needs it. */
  readonly edges?: boolean;
  /** Line ends stay what they are. */
  readonly lines?: boolean;
}

export function Visible({ text, edges = false, lines = false }: VisibleProps): JSX.Element {
  if (lines) return <bdi>{text.split('\n').flatMap((line, i) => [i > 0 ? '\n' : '', ...pieces(line, edges)])}</bdi>;
  return <bdi>{pieces(text, edges)}</bdi>;
}

function pieces(text: string, edges: boolean): (string | JSX.Element)[] {
  const out: (string | JSX.Element)[] = [];
  let from = 0;
  const push = (part: string, first: boolean, last: boolean) => {
    if (part === '') return;
    if (!edges) return void out.push(part);
    const [, lead = '', rest = ''] = /^( *)([^]*)$/.exec(part) ?? [];
    const [, inner = '', tail = ''] = /^([^]*?)( *)$/.exec(rest) ?? [];
    out.push(first ? spaces(lead) : lead, inner, last ? spaces(tail) : tail);
  };
  for (const match of text.matchAll(HIDDEN)) {
    push(text.slice(from, match.index), from === 0, false);
    out.push(hidden(match[0]));
    from = match.index + match[0].length;
  }
  push(text.slice(from), from === 0, true);
  return out;
}

function spaces(text: string): string | JSX.Element {
  return text === '' ? '' : <span class="space">{'␣'.repeat(text.length)}</span>;
}

/** The same where no element can stand: tool tips and labels. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `[${nameOf(character)}]`);
}

function nameOf(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function hidden(character: string): JSX.Element {
  const name = nameOf(character);
  return (
    <span class="hidden-character" title={name}>
      {PICTURES[character] ?? name}
    </span>
  );
}
