/** Just enough reading of TypeScript to find arguments and texts in it. */

const OPEN = '([{';
const CLOSE = ')]}';

/** The arguments of a call, as source: `at` is behind its opening parenthesis. */
export function argumentsAt(source: string, at: number): string[] {
  const out: string[] = [];
  let depth = 0;
  let from = at;
  for (let i = at; i < source.length; i++) {
    const char = source[i] as string;
    if (isQuote(char)) i = endOfText(source, i);
    else if (source.startsWith('//', i)) i = source.indexOf('\n', i);
    else if (OPEN.includes(char)) depth++;
    else if (CLOSE.includes(char) && depth-- === 0) {
      out.push(source.slice(from, i).trim());
      break;
    } else if (char === ',' && depth === 0) {
      out.push(source.slice(from, i).trim());
      from = i + 1;
    }
  }
  return out;
}

/** The texts in a piece of source. What a template fills in is `…` in a sentence, and `<status>` for `${answer.status}` in a word. */
export function literalsIn(code: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < code.length; i++) {
    if (!isQuote(code[i] as string)) continue;
    const end = endOfText(code, i);
    out.push(spelled(code.slice(i + 1, end)));
    i = end;
  }
  return out;
}

function isQuote(char: string): boolean {
  return char === "'" || char === '"' || char === '`';
}

/** Index of the closing quote. */
function endOfText(code: string, start: number): number {
  const quote = code[start];
  for (let i = start + 1; i < code.length; i++) {
    if (code[i] === '\\') i++;
    else if (code[i] === quote) return i;
    else if (quote === '`' && code.startsWith('${', i)) i = endOfHole(code, i);
  }
  return code.length;
}

/** Index of the brace that closes `${`. */
function endOfHole(code: string, start: number): number {
  let depth = 0;
  for (let i = start + 1; i < code.length; i++) {
    const char = code[i] as string;
    if (isQuote(char)) i = endOfText(code, i);
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return i;
  }
  return code.length;
}

function spelled(text: string): string {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') out += text[++i];
    else if (text.startsWith('${', i)) {
      const end = endOfHole(text, i);
      out += text.includes(' ', end) || out.includes(' ') ? '…' : `<${/\w+\.(\w+)/.exec(text.slice(i, end))?.[1] ?? ''}>`;
      i = end;
    } else out += text[i];
  }
  return out;
}
