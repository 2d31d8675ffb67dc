/** A value and where it came from; a later layer wins over an earlier one. */
import type { FieldName } from './fields.ts';

/** From weakest to strongest. */
export const SOURCES = ['default', 'file', 'environment', 'flag'] as const;
export type Source = (typeof SOURCES)[number];

export interface Given {
  readonly value: unknown;
  readonly source: Source;
  /** How the reader knows it: `--seed`, `LOCKSTEP_SEED`, `seed in lockstep.config.ts`. */
  readonly name: string;
}

export type Layer = ReadonlyMap<FieldName, Given>;

export function mergeLayers(...layers: readonly Layer[]): Layer {
  return new Map(layers.flatMap((layer) => [...layer]));
}

export function strength(given: Given | undefined): number {
  return given === undefined ? 0 : SOURCES.indexOf(given.source);
}
