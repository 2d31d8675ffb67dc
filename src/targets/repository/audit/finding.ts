import type { Edit, Knob, Level } from '../knobs/index.ts';
import type { Path } from '../positioned.ts';

/** In a file, or in a configuration as a server has loaded it. */
export type Where = { readonly file: string; readonly line: number } | { readonly url: string };

/** One knob that is not at its deterministic value. */
export interface Finding {
  readonly knob: Knob;
  readonly level: Level;
  readonly model: string;
  readonly found: string;
  readonly where: Where;
  readonly fix?: { readonly kind: 'config'; readonly edit: Edit } | { readonly kind: 'yaml'; readonly path: Path; readonly value: unknown };
}

export interface Audit {
  /** Files and addresses that were read. */
  readonly read: readonly string[];
  /** In the order of files, then of lines. */
  readonly findings: readonly Finding[];
}
