import { UNKNOWN } from './unknown.ts';

export type Identity = Readonly<Record<string, string>>;

export interface IdentityComparison {
  readonly same: readonly string[];
  readonly differing: readonly { readonly key: string; readonly a: string; readonly b: string }[];
  /** Parts that one of the two does not tell, so that nobody knows. */
  readonly untold: readonly string[];
}

/** Part by part; what is unknown on either side neither agrees nor differs. */
export function compareIdentities(a: Identity, b: Identity): IdentityComparison {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const told = keys.filter((key) => [a[key], b[key]].every((value) => value !== undefined && value !== UNKNOWN));
  return {
    same: told.filter((key) => a[key] === b[key]),
    differing: told.filter((key) => a[key] !== b[key]).map((key) => ({ key, a: a[key] as string, b: b[key] as string })),
    untold: keys.filter((key) => !told.includes(key)),
  };
}
