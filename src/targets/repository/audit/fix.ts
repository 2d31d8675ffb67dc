/** What `--fix` prints: the files as they would be with every knob at its deterministic value, as a unified diff. */
import { readFileSync } from 'node:fs';
import { createTwoFilesPatch } from 'diff';
import { stringify } from 'yaml';
import { placeOf, placesIn } from '#wire/protocol/pbtxt-places.ts';
import { quoted } from '../config-text.ts';
import type { Edit } from '../knobs/index.ts';
import { type Path, positioned } from '../positioned.ts';
import type { Finding } from './finding.ts';

/** One patch for each file that changes, in the order of the findings. `shown`: how a file is called in it. */
export function patchOf(findings: readonly Finding[], shown: (file: string) => string): string {
  const files = [...new Set(findings.flatMap(({ where, fix }) => (fix !== undefined && 'file' in where ? [where.file] : [])))];
  return files
    .map((file) => {
      // A byte order mark is no part of either format, and offsets are counted behind it.
      const before = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
      const fixes = findings.flatMap(({ where, fix }) => ('file' in where && where.file === file && fix !== undefined ? [fix] : []));
      const edited = editConfig(
        before,
        fixes.flatMap((fix) => (fix.kind === 'config' ? [fix.edit] : [])),
      );
      const after = fixes.reduce((text, fix) => (fix.kind === 'yaml' ? setInYaml(text, file, fix.path, fix.value) : text), edited);
      return after === before ? '' : createTwoFilesPatch(shown(file), shown(file), before, after, undefined, undefined, { context: 3 });
    })
    .join('');
}

type Change = readonly [start: number, end: number, text: string];

/** Everything that is not edited stays as it was, to the last blank. */
export function editConfig(text: string, edits: readonly Edit[]): string {
  const places = placesIn(text);
  const changes: Change[] = [];
  const appended: string[] = [];
  for (const edit of edits) {
    if (edit.kind === 'parameter') {
      const place = placeOf(places, ['parameters', { key: edit.key }, 'value', 'string_value'], text);
      if (place !== undefined) changes.push([...place.value, quoted(edit.value)]);
      else appended.push(`parameters {\n  key: ${quoted(edit.key)}\n  value: { string_value: ${quoted(edit.value)} }\n}\n`);
      continue;
    }
    const place = placeOf(places, edit.path, text);
    if (place === undefined) continue;
    if (edit.kind === 'scalar') changes.push([...place.value, edit.value]);
    else changes.push(place.listed ? element(text, place.value) : wholeLines(text, place.whole));
  }
  const outermost = changes.filter(
    ([start, end], at) => !changes.some(([s, e], other) => other !== at && s <= start && end <= e && (e - s > end - start || other < at)),
  );
  const body = outermost.toSorted((a, b) => b[0] - a[0]).reduce((now, [start, end, by]) => now.slice(0, start) + by + now.slice(end), text);
  return appended.length === 0 ? body : `${body}${body === '' || body.endsWith('\n') ? '' : '\n'}${appended.join('')}`;
}

/** A field with the blanks before it and the line end after it, where nothing else stands on its lines. */
function wholeLines(text: string, [start, end]: readonly [number, number]): Change {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const separator = /^[ \t]*[,;]?/.exec(text.slice(end))?.[0].length ?? 0;
  const rest = /^[ \t\r]*(\n|$)/.exec(text.slice(end + separator));
  if (text.slice(lineStart, start).trim() === '' && rest !== null) return [lineStart, end + separator + rest[0].length, ''];
  return [start, end + separator, ''];
}

/** An element of a list, with the comma that parted it from the one before it, or else from the one behind. */
function element(text: string, [start, end]: readonly [number, number]): Change {
  const before = /,\s*$/.exec(text.slice(0, start));
  if (before !== null) return [start - before[0].length, end, ''];
  return [start, end + (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0), ''];
}

/** Sets one value of a YAML file; a comment, a blank or a quote elsewhere stays. */
export function setInYaml(text: string, file: string, path: Path, value: unknown): string {
  const written = stringify(value, { collectionStyle: 'flow' }).trimEnd();
  const document = positioned(text, file, 'yaml');
  const range = document.rangeOf(path);
  if (range !== undefined) return text.slice(0, range[0]) + (text[range[0] - 1] === ':' ? ' ' : '') + written + text.slice(range[1]);
  const [head, ...rest] = path;
  const parent = rest.length === 0 ? undefined : document.rangeOf([head ?? '']);
  const outer = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  if (parent === undefined || document.isEmpty([head ?? ''])) {
    if (parent !== undefined) return setInYaml(text, file, [head ?? ''], { [String(rest[0])]: value });
    return rest.length === 0 ? `${outer}${head}: ${written}\n` : `${outer}${head}:\n  ${rest.join('.')}: ${written}\n`;
  }
  const inside = `${rest.join('.')}: ${written}`;
  if (text[parent[0]] === '{') return `${text.slice(0, parent[0] + 1)} ${inside},${text.slice(parent[0] + 1)}`;
  const indent = parent[0] - (text.lastIndexOf('\n', parent[0] - 1) + 1);
  return `${text.slice(0, parent[0])}${inside}\n${' '.repeat(indent)}${text.slice(parent[0])}`;
}
