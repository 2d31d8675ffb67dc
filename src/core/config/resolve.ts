/** Flags over environment over config file over default, validated once. */
import { inspect } from 'node:util';
import { LockstepError } from '#core/errors/index.ts';
import { withoutCredentials } from './addresses.ts';
import { readConfigFile } from './config-file.ts';
import { refuseContradictions, WITHOUT_TARGET, withoutUnused } from './contradictions.ts';
import type { Environment } from './environment.ts';
import { readEnvironment } from './environment.ts';
import type { CommandName, Field } from './field.ts';
import type { Settings } from './fields.ts';
import { FIELDS, FIELD_NAMES } from './fields.ts';
import { fieldsOf } from './flags.ts';
import type { Given, Layer } from './layers.ts';
import { mergeLayers } from './layers.ts';

export interface ResolveOptions {
  readonly command: CommandName;
  readonly flags?: Layer;
  readonly env: Environment;
  /** Where the config file is looked for. */
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

/** Errors: `value-invalid`, `flags-contradict`, and those of config-file.ts. */
export async function resolveSettings(options: ResolveOptions): Promise<Settings> {
  const names = fieldsOf(options.command);
  const given = mergeLayers(
    await readConfigFile(options.cwd, { signal: options.signal }),
    readEnvironment(options.env, names),
    options.flags ?? new Map(),
  );
  const settings = Object.fromEntries(
    FIELD_NAMES.map((name) => [name, validate(FIELDS[name], names.includes(name) ? given.get(name) : undefined)]),
  ) as unknown as Settings;
  // It writes down what a target will be, and has none yet.
  if (options.command === 'init') return settings;
  refuseContradictions(options.command, settings, given);
  return WITHOUT_TARGET.includes(options.command) ? settings : withoutUnused(settings);
}

/** What holds when nothing is given. */
export function defaultSettings(): Settings {
  return Object.fromEntries(FIELD_NAMES.map((name) => [name, validate(FIELDS[name], undefined)])) as unknown as Settings;
}

/** Flags and variables are text; numbers among them are read strictly: no blanks, no exponent, no fraction. */
function validate(one: Field, given: Given | undefined): unknown {
  if (given === undefined) return one.schema.parse(undefined);
  const text = given.value;
  const value = one.kind === 'number' && typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : text;
  const parsed = one.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new LockstepError('value-invalid', `${given.name} must be ${one.expected}; got ${got(one, text)}`, {
    hint: `Correct it or leave it out${defaultHint(one)}.`,
  });
}

function got({ secret }: Field, value: unknown): string {
  if (secret === 'all') return 'something else, not shown';
  return secret === 'in addresses' ? withoutCredentials(show(value)) : show(value);
}

/** Of a value that is longer than this nobody reads the rest. */
const SHOWN = 200;

/** What a config file gives may be anything: deep, round, endless. */
function show(value: unknown): string {
  const text =
    typeof value === 'string' ? value : inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 5, maxStringLength: SHOWN });
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text;
  return typeof value === 'string' ? `“${cut}”` : cut;
}

function defaultHint(one: Field): string {
  const fallback = one.schema.safeParse(undefined);
  if (one.defaultText !== undefined) return ` (default: ${one.defaultText})`;
  return fallback.success && fallback.data !== undefined ? ` (default: ${String(fallback.data as string | number | boolean)})` : '';
}
