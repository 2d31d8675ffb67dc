import { escapePattern } from './escape-pattern.ts';
import type { AddedToken } from './tokenizer-json.ts';

/** A piece of text that is still to be encoded, or the id of the added token that stood there. */
export type Section = { readonly text: string; readonly atStart: boolean } | { readonly id: number };

/**
 * Finds added tokens in a text, leftmost first, the longest of several, as the Rust library does (huggingface/tokenizers
 * `tokenizer/added_vocabulary.rs`, `find_matches`). Text outside them comes back as it is; `atStart` marks the piece
 * with which the text begins.
 */
export function addedTokenSplitter(tokens: readonly AddedToken[]): (text: string) => Section[] {
  if (tokens.length === 0) return (text) => (text === '' ? [] : [{ text, atStart: true }]);
  const byContent = new Map(tokens.map((token) => [token.content, token]));
  const longestFirst = [...byContent.keys()].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map((content) => escapePattern(content)).join('|'), 'gu');

  return (text) => {
    const sections: Section[] = [];
    let done = 0;
    for (const match of text.matchAll(pattern)) {
      const token = byContent.get(match[0]) as AddedToken;
      let start = match.index;
      let end = start + match[0].length;
      if (token.lstrip === true) start = Math.max(start - trailingSpace(text.slice(0, start)), done);
      if (token.rstrip === true) end += leadingSpace(text.slice(end));
      if (done < start) sections.push({ text: text.slice(done, start), atStart: done === 0 });
      sections.push({ id: token.id });
      done = end;
    }
    if (done < text.length) sections.push({ text: text.slice(done), atStart: done === 0 });
    return sections;
  };
}

function trailingSpace(text: string): number {
  return /\p{White_Space}*$/u.exec(text)?.[0].length ?? 0;
}

function leadingSpace(text: string): number {
  return /^\p{White_Space}*/u.exec(text)?.[0].length ?? 0;
}
