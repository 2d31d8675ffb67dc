/** `lockstep.config.ts` in the working directory → a layer of settings. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import type { FieldName, SettingsInput } from './fields.ts';
import { FIELD_NAMES } from './fields.ts';
import type { Given, Layer } from './layers.ts';
import { loadConfigFile, type LoadOptions } from './load-config-file.ts';
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

/** Errors: those of `loadConfigFile`, and `config-field-unknown`. */
export async function readConfigFile(folder: string, options: LoadOptions = {}): Promise<Layer> {
  const path = findConfigFile(folder);
  if (path === undefined) return new Map();
  const layer = new Map<FieldName, Given>();
  for (const [name, value] of await loadConfigFile(path, options)) {
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

function isFieldName(name: string): name is FieldName {
  return (FIELD_NAMES as readonly string[]).includes(name);
}
