/** A JSON or YAML file with the line of every value in it. */
import { readFileSync } from 'node:fs';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { LockstepError } from '#core/errors/index.ts';

export type Path = readonly (string | number)[];

export interface Positioned {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  /** Line of the value at a path, or of the deepest part of the path that is there; from 1. */
  lineOf(path: Path): number;
  /** Where the value at a path stands in the text, or undefined when it is not there. */
  rangeOf(path: Path): readonly [number, number] | undefined;
  /** Whether the value at a path is no map with something in it. */
  isEmpty(path: Path): boolean;
}

/** Errors: `file-unreadable`, `file-malformed` with file and line. */
export function readPositioned(file: string, format: 'json' | 'yaml'): Positioned {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new LockstepError('file-unreadable', `cannot read ${file}: ${(thrown as Error).message}`, {
      hint: 'Check that it is a file and that this user may read it.',
      cause: thrown,
    });
  }
  return positioned(text, file, format);
}

export function positioned(text: string, file: string, format: 'json' | 'yaml'): Positioned {
  // A byte order mark is what some editors write; neither format wants one.
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = new LineCounter();
  let document: ReturnType<typeof parseDocument>;
  let value: unknown;
  try {
    document = parseDocument(plain, { lineCounter: lines, uniqueKeys: format === 'yaml', logLevel: 'silent' });
    value = format === 'json' ? parseJson(plain, file) : undefined;
    const [error] = document.errors;
    if (format === 'yaml' && error !== undefined) {
      throw malformed(file, lines.linePos(error.pos[0]).line, 'YAML', error.message.split(/ at line \d+/)[0] ?? error.message);
    }
    if (format === 'yaml') value = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    // The YAML library throws for aliases without an anchor and for too many of them.
    if (thrown instanceof LockstepError) throw thrown;
    throw malformed(file, 1, format.toUpperCase(), (thrown as Error).message);
  }
  const nodeAt = (path: Path): Node | undefined => document.getIn(path, true) as Node | undefined;
  return {
    file,
    text: plain,
    value,
    lineOf: (path) => {
      for (let length = path.length; length >= 0; length--) {
        const key = keyOf(document.contents, path.slice(0, length));
        const start = (key ?? (length === 0 ? document.contents : nodeAt(path.slice(0, length))))?.range?.[0];
        if (start !== undefined) return lines.linePos(start).line;
      }
      return 1;
    },
    rangeOf: (path) => {
      const range = nodeAt(path)?.range;
      return range === undefined || range === null ? undefined : [range[0], range[1]];
    },
    isEmpty: (path) => {
      const node = nodeAt(path);
      return !isMap(node) || node.items.length === 0;
    },
  };
}

/** The key node of the last step: a value can begin on a line below its name. */
function keyOf(root: unknown, path: Path): Node | undefined {
  let at: unknown = root;
  let key: Node | undefined;
  for (const step of path) {
    if (isMap(at)) {
      const pair = at.items.find((item) => String((item.key as { readonly value?: unknown } | null)?.value) === String(step));
      if (pair === undefined) return undefined;
      key = pair.key as Node;
      at = pair.value;
    } else if (isSeq(at)) {
      at = at.items[Number(step)];
      key = at as Node | undefined;
    } else {
      return undefined;
    }
  }
  return key;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    const message = (thrown as Error).message;
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? text.length);
    const line = text.slice(0, offset).split('\n').length;
    throw malformed(file, line, 'JSON', message.replace(/ in JSON at position.*$/s, '').replace(/ \(line.*$/s, ''), thrown);
  }
}

function malformed(file: string, line: number, format: string, message: string, cause?: unknown): LockstepError {
  return new LockstepError('file-malformed', `${file}:${line}: no ${format}: ${message.split('\n')[0]}`, {
    hint: `Correct that line; the file must be ${format} from its first byte to its last.`,
    cause,
  });
}
