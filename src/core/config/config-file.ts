/** `lockstep.config.ts` in the working directory → a layer of settings. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { FieldName, SettingsInput } from './fields.ts';
import { FIELD_NAMES } from './fields.ts';
import type { Given, Layer } from './layers.ts';
import { nearest } from './nearest.ts';

export const CONFIG_FILES = ['lockstep.config.ts', 'lockstep.config.mjs', 'lockstep.config.js'] as const;

/** Gives a config file its types; returns what it was given. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}

/** The config file of a folder, or undefined. */
export function findConfigFile(folder: string): string | undefined {
  return CONFIG_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
}

/** Errors: `config-file-unreadable` (it cannot be imported, or exports no object), `config-field-unknown`. */
export async function readConfigFile(folder: string): Promise<Layer> {
  const path = findConfigFile(folder);
  if (path === undefined) return new Map();
  const settings = await load(path);
  const layer = new Map<FieldName, Given>();
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    if (!isFieldName(name)) {
      const meant = nearest(name, FIELD_NAMES);
      throw new LockstepError('config-field-unknown', `${basename(path)} has a field that does not exist: ${name}`, {
        context: { file: path, field: name },
        hint: meant === undefined ? `Fields are: ${FIELD_NAMES.join(', ')}.` : `Did you mean ${meant}?`,
      });
    }
    layer.set(name, { value, source: 'file', name: `${name} in ${basename(path)}` });
  }
  return layer;
}

/** A configuration is plain data; one that takes longer than this waits for something that never comes. */
const LOAD_WITHIN_MS = 10_000;

async function load(path: string): Promise<object> {
  let module: { readonly default?: unknown };
  try {
    const loading = import(pathToFileURL(path).href) as Promise<{ readonly default?: unknown }>;
    module = await withDeadline({ ms: LOAD_WITHIN_MS, what: `${basename(path)} to be loaded` }, () => loading);
  } catch (thrown) {
    throw new LockstepError('config-file-unreadable', `${basename(path)} cannot be loaded: ${(thrown as Error).message}`, {
      context: { file: path },
      hint: 'Only syntax that can be erased works there: no enums, no parameter properties; imports end in .ts.',
      cause: thrown,
    });
  }
  const settings = module.default;
  // A promise, a list or a map is an object too, and one without fields.
  if (typeof settings !== 'object' || settings === null || Object.prototype.toString.call(settings) !== '[object Object]') {
    throw new LockstepError('config-file-unreadable', `${basename(path)} must export its settings as default, as one object`, {
      context: { file: path },
      hint: 'Write: export default defineConfig({ … }).',
    });
  }
  return settings;
}

function isFieldName(name: string): name is FieldName {
  return (FIELD_NAMES as readonly string[]).includes(name);
}
