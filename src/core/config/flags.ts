/** Command-line arguments → a layer of settings, with errors that name the nearest flag that exists. */
import { parseArgs } from 'node:util';
import { LockstepError } from '#core/errors/index.ts';
import type { CommandName, Field } from './field.ts';
import { flagName } from './field.ts';
import type { FieldName } from './fields.ts';
import { FIELDS, FIELD_NAMES } from './fields.ts';
import type { Given, Layer } from './layers.ts';
import { nearest } from './nearest.ts';

export interface ParsedFlags {
  readonly layer: Layer;
  readonly positionals: readonly string[];
  /** `--help` or `-h` was given. */
  readonly help: boolean;
}

/** Errors: `flag-unknown`, `flag-value-missing`, `flag-value-unexpected`. Values are judged later, in resolve.ts. */
export function parseFlags(command: CommandName, args: readonly string[]): ParsedFlags {
  const names = fieldsOf(command);
  const byFlag = new Map(names.map((name) => [flagName(name), name]));
  const options = Object.fromEntries(
    names.map((name) => [flagName(name), { type: takesValue(FIELDS[name]) ? ('string' as const) : ('boolean' as const) }]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const layer = new Map<FieldName, Given>();
  const positionals: string[] = [];
  let help = false;
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help' || token.name === 'h') {
      help = true;
      continue;
    }
    const negated = !byFlag.has(token.name) && token.name.startsWith('no-');
    const name = byFlag.get(negated ? token.name.slice(3) : token.name);
    if (name === undefined) throw unknownFlag(command, token.rawName, [...byFlag.keys()]);
    const one: Field = FIELDS[name];
    const flag = `--${flagName(name)}`;
    if (!takesValue(one)) {
      if (token.value !== undefined) throw unexpectedValue(flag, token.value);
      layer.set(name, { value: !negated, source: 'flag', name: flag });
      continue;
    }
    if (negated) throw unknownFlag(command, token.rawName, [...byFlag.keys()]);
    if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) throw missingValue(flag, one);
    const before = layer.get(name)?.value;
    const value =
      one.kind === 'list' && Array.isArray(before) ? [...before, token.value] : one.kind === 'list' ? [token.value] : token.value;
    layer.set(name, { value, source: 'flag', name: flag });
  }
  return { layer, positionals, help };
}

/** The settings that a command takes, in table order. */
export function fieldsOf(command: CommandName): readonly FieldName[] {
  return FIELD_NAMES.filter((name) => (FIELDS[name].commands as readonly CommandName[]).includes(command));
}

function takesValue(one: Field): boolean {
  return one.kind !== 'switch';
}

function unknownFlag(command: CommandName, rawName: string, known: readonly string[]): LockstepError {
  const word = rawName.replace(/^-+/, '');
  const meant = nearest(word, known);
  const elsewhere = FIELD_NAMES.find((name) => flagName(name) === word);
  const hint =
    elsewhere !== undefined
      ? `It belongs to: ${FIELDS[elsewhere].commands.join(', ')}. \`lockstep ${command} --help\` lists what ${command} takes.`
      : meant !== undefined
        ? `Did you mean --${meant}?`
        : `\`lockstep ${command} --help\` lists the flags.`;
  return new LockstepError('flag-unknown', `${command} has no flag ${rawName}`, { hint });
}

function missingValue(flag: string, one: Field): LockstepError {
  return new LockstepError('flag-value-missing', `${flag} needs a value: ${one.expected}`, {
    hint: `Write ${flag} ${one.value ?? 'VALUE'}.`,
  });
}

function unexpectedValue(flag: string, value: string): LockstepError {
  return new LockstepError('flag-value-unexpected', `${flag} takes no value, got “${value}”`, {
    hint: `Write ${flag} alone, or --no-${flag.slice(2)} to switch it off.`,
  });
}
