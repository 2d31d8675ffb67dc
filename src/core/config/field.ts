/** One setting: its shape (zod) and the words from which flag, environment name and help are made. */
import type { z } from 'zod';

export const COMMAND_NAMES = [
  'check',
  'serve',
  'start',
  'ps',
  'stop',
  'goldens',
  'repository',
  'audit',
  'identify',
  'init',
  'record',
  'shrink',
  'bundle',
  'upgrade',
  'bisect',
  'replay',
  'doctor',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

export interface FieldOptions {
  /** Placeholder of the value in help texts (`DIR`, `HOST:PORT`); absent for switches. */
  readonly value?: string;
  /** What a valid value is, to complete "expected …" and to be shown in help after the sentence. */
  readonly expected: string;
  /** One sentence for `--help`, without its full stop. */
  readonly help: string;
  readonly commands: readonly CommandName[];
  /** Shown in help in place of the schema's own default. */
  readonly defaultText?: string;
  /** What of a value no message shows: all of it, or of addresses who somebody is and what stands behind a question mark. */
  readonly secret?: 'all' | 'in addresses';
}

export interface Field<S extends z.ZodType = z.ZodType> extends FieldOptions {
  readonly kind: 'switch' | 'text' | 'number' | 'choice' | 'list';
  /** The values of a choice, in help order. */
  readonly choices: readonly string[];
  readonly schema: S;
}

/** Reads kind and choices from the schema, so that neither is written twice. */
export function field<S extends z.ZodType>(schema: S, options: FieldOptions): Field<S> {
  const inner = unwrap(schema);
  const { type } = inner._zod.def;
  const kind =
    type === 'boolean' ? 'switch' : type === 'number' ? 'number' : type === 'enum' ? 'choice' : type === 'array' ? 'list' : 'text';
  const entries = (inner._zod.def as { readonly entries?: Readonly<Record<string, string>> }).entries;
  return { ...options, kind, choices: entries === undefined ? [] : Object.values(entries), schema };
}

/** The default that the schema itself gives, or undefined. */
export function defaultOf(one: Field): unknown {
  const parsed = one.schema.safeParse(undefined);
  return parsed.success ? parsed.data : undefined;
}

/** `strictIdentity` → `--strict-identity` without the dashes. */
export function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `strictIdentity` → `LOCKSTEP_STRICT_IDENTITY`. */
export function envName(name: string): string {
  return `LOCKSTEP_${flagName(name).replaceAll('-', '_').toUpperCase()}`;
}

interface Wrapper {
  readonly innerType?: z.ZodType;
}

function unwrap(schema: z.ZodType): z.ZodType {
  const inner = (schema._zod.def as Wrapper).innerType;
  return inner === undefined ? schema : unwrap(inner);
}
