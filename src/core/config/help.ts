/** The flag table of one command as text, from the table of settings. */
import type { CommandName, Field } from './field.ts';
import { defaultOf, envName, flagName } from './field.ts';
import { HEADINGS } from './field-groups.ts';
import type { FieldName } from './fields.ts';
import { FIELDS } from './fields.ts';
import { fieldsOf } from './flags.ts';

const LEFT_WIDTH = 24;

/**
 * One paragraph per flag, wrapped to `columns`: flag and placeholder left, sentence, values, default and variable right. Where the
 * command has a choice of targets, what only some of them take stands below headings that name these. Empty without flags.
 */
export function helpForFields(command: CommandName, columns: number): string {
  const names = fieldsOf(command);
  const groups = names.includes('target') ? HEADINGS : [];
  const placed = new Set(groups.flatMap(({ fields }) => fields));
  return [{ heading: 'flags', fields: names.filter((name) => !placed.has(name)) }, ...groups]
    .map(({ heading, fields }) => ({ heading, shown: names.filter((name) => fields.includes(name)) }))
    .filter(({ shown }) => shown.length > 0)
    .map(({ heading, shown }) => [heading, ...shown.map((name) => paragraph(name, columns))].join('\n'))
    .join('\n\n');
}

function paragraph(name: FieldName, columns: number): string {
  const one: Field = FIELDS[name];
  const left = `  --${flagName(name)}${one.value === undefined ? '' : ` ${one.value}`}`;
  const right = wrap(sentence(one, envName(name)), Math.max(30, columns - LEFT_WIDTH - 1));
  const [first = '', ...rest] = right;
  const head = left.length < LEFT_WIDTH ? [left.padEnd(LEFT_WIDTH) + first] : [left, ' '.repeat(LEFT_WIDTH) + first];
  return [...head, ...rest.map((line) => ' '.repeat(LEFT_WIDTH) + line)].join('\n');
}

function sentence(one: Field, env: string): string {
  const facts = [one.choices.length > 0 ? one.choices.join(' | ') : undefined, defaultText(one), env];
  return `${one.help} [${facts.filter((fact) => fact !== undefined).join('; ')}]`;
}

function defaultText(one: Field): string | undefined {
  if (one.defaultText !== undefined) return `default: ${one.defaultText}`;
  const value = defaultOf(one);
  return value === undefined || value === false ? undefined : `default: ${String(value as string | number)}`;
}

/** Lines of at most `width` characters, unless one word is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
