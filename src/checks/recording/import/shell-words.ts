/** The words of one command line, as a POSIX shell would take them; nothing is expanded and nothing is run. */

/** What stands behind a backslash in `$'…'` (bash(1), QUOTING); what browsers copy has these. */
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
  e: '\u001b',
  '0': '\0',
};

/** Undefined when a quote is not closed. Ends at the first `|`, `;`, `&` or `>` outside of quotes: what follows is another command. */
export function shellWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const c = line[at]!;
    const rest = line.slice(at);
    if (c === '\\') {
      const next = line[++at];
      if (next === '\r' && line[at + 1] === '\n') at++;
      else if (next !== '\n') word = (word ?? '') + (next ?? '');
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|;&>]/.test(c)) break;
    else if (c === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return undefined;
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (c === '"') {
      const [quoted, inner = ''] = /^"((?:[^"\\]|\\[^])*)"/.exec(rest) ?? [];
      if (quoted === undefined) return undefined;
      word = (word ?? '') + inner.replaceAll(/\\(\n|["\\$`])/g, (_, one: string) => (one === '\n' ? '' : one));
      at += quoted.length - 1;
    } else if (rest.startsWith("$'")) {
      const [quoted, inner = ''] = /^\$'((?:[^'\\]|\\[^])*)'/.exec(rest) ?? [];
      if (quoted === undefined) return undefined;
      word = (word ?? '') + unescaped(inner);
      at += quoted.length - 1;
    } else word = (word ?? '') + c;
  }
  return word === undefined ? words : [...words, word];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{1,4})|x([0-9a-fA-F]{1,2})|([^]))/g, (_, unicode?: string, hex?: string, one?: string) =>
    one === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex ?? '', 16)) : (ESCAPES[one] ?? one),
  );
}
