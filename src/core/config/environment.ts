/** Environment variables → a layer of settings. */
import { envName } from './field.ts';
import type { Field } from './field.ts';
import type { FieldName } from './fields.ts';
import { FIELDS, FIELD_NAMES } from './fields.ts';
import type { Given, Layer } from './layers.ts';
import { nearest } from './nearest.ts';

/** Carries a whole resolved configuration from the command to the runner (run-config.ts); not a setting. */
export const RUN_VARIABLE = 'LOCKSTEP_RUN';

/** Switches on the tests that download and start a real tritonserver. */
const REAL_VARIABLE = 'LOCKSTEP_REAL';

/** `all`: the self-test looks for every fault (`npm run test:faults`), not for one of each law. */
export const FAULTS_VARIABLE = 'LOCKSTEP_FAULTS';

/** `all`: official clients are run in every way, each with a negative control (`npm run test:full`), not in some that the seed draws. */
export const CLIENTS_VARIABLE = 'LOCKSTEP_CLIENTS';

/** `all`: the whole suite on every release of tritonserver (`npm run test:versions`), not a part on four; or releases, as `2.42,2.47`. */
export const VERSIONS_VARIABLE = 'LOCKSTEP_VERSIONS';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Empty variables count as unset; lists are separated by commas; switches are 1, true, yes or 0, false, no. */
export function readEnvironment(env: Environment, names: readonly FieldName[] = FIELD_NAMES): Layer {
  const layer = new Map<FieldName, Given>();
  for (const name of names) {
    const text = env[envName(name)];
    if (text === undefined || text === '') continue;
    layer.set(name, { value: fromText(FIELDS[name], text), source: 'environment', name: envName(name) });
  }
  return layer;
}

/** Variables that begin with LOCKSTEP_ and mean nothing, each with the name that was likely meant. */
export function unknownVariables(env: Environment): readonly { readonly name: string; readonly meant: string | undefined }[] {
  const known = [...FIELD_NAMES.map(envName), RUN_VARIABLE, REAL_VARIABLE, FAULTS_VARIABLE, CLIENTS_VARIABLE, VERSIONS_VARIABLE];
  return Object.keys(env)
    .filter((name) => name.startsWith('LOCKSTEP_') && !known.includes(name))
    .map((name) => ({ name, meant: nearest(name, known) }));
}

function fromText(one: Field, text: string): unknown {
  if (one.kind === 'list')
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (one.kind === 'switch') {
    if (/^(1|true|yes|on)$/i.test(text)) return true;
    if (/^(0|false|no|off)$/i.test(text)) return false;
  }
  return text;
}
