import type { CoreProfile } from './profile.ts';

/** How texts about an exception in a Python model call its instance, as `model 'preprocessing_0_0'`. */
export function instanceText({ instanceInErrors }: CoreProfile, model: string): string {
  return instanceInErrors.value.replace(/m(_0)+$/, (name) => `'${model}${name.slice(1)}'`);
}
