import { firstDivergence, firstTextDivergence, windowAround } from '#checks/compare/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import type { SideView } from './result.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Lab } from './lab.ts';

/** Both answers around the place where they part: by ids where ids are served, by text elsewhere. */
export function sidesOf(lab: Pick<Lab, 'tokenizer'>, t: Transcript, truth: Answer): readonly SideView[] | undefined {
  if (t.case.route === 'raw') {
    const at = firstDivergence(truth.ids, t.ids);
    if (at < 0) return undefined;
    const window = windowAround(truth.ids, t.ids, at, lab.tokenizer);
    return [
      { name: 'accepted', ...window.expected, position: at, margin: truth.margins[at] },
      { name: 'observed', ...window.observed, position: at, margin: t.margins[at] },
    ];
  }
  const char = firstTextDivergence(truth.text, t.text);
  if (char < 0) return undefined;
  return [textSide('accepted', truth.text, char), textSide('observed', t.text, char)];
}

function textSide(name: string, text: string, char: number): SideView {
  const from = Math.max(0, char - 30);
  const before = text.slice(from, char);
  const after = text.slice(char, char + 30);
  return {
    name,
    ids: [],
    tokens: before === '' ? [after] : [before, after],
    text: text.slice(from, char + 30),
    at: before === '' ? 0 : 1,
    position: char,
  };
}
