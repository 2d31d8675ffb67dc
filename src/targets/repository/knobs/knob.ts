/** What a knob is: one setting that can change answers, with its deterministic value and how that is known. */
import type { RepositoryRelease } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { PlaceStep } from '#wire/protocol/pbtxt-places.ts';
import type { Path } from '../positioned.ts';

/**
 * `error`: seen, or documented upstream, to change answers or their order. `warning`: engineering says that it can.
 * `note`: no value is deterministic by itself; it must stay what it was when goldens were recorded.
 */
export type Level = 'error' | 'warning' | 'note';

export type Role = 'engine' | 'preprocessing' | 'postprocessing' | 'bls' | 'ensemble' | 'llmapi' | 'other';

export interface ConfiguredModel {
  readonly name: string;
  readonly role: Role;
  readonly config: ModelConfig;
  readonly release: RepositoryRelease;
}

/** A change to config.pbtxt. */
export type Edit =
  | { readonly kind: 'remove'; readonly path: readonly PlaceStep[] }
  | { readonly kind: 'scalar'; readonly path: readonly PlaceStep[]; readonly value: string }
  | { readonly kind: 'parameter'; readonly key: string; readonly value: string };

export interface Sighting<P> {
  readonly path: P;
  /** The value that was found, as one reads it. */
  readonly found: string;
}

interface Described {
  readonly id: string;
  /** As it is written where it is set. */
  readonly setting: string;
  readonly deterministic: string;
  /** What another value can do to answers; completes "it can …". */
  readonly effect: string;
  /** One imperative sentence. */
  readonly how: string;
  readonly level: Level;
  /** doc, source, observed or inferred, with the place. */
  readonly known: string;
}

/** Set in config.pbtxt, and seen as loaded on a running server. */
export interface ConfigKnob extends Described {
  readonly place: 'config.pbtxt';
  readonly look: (model: ConfiguredModel) => readonly (Sighting<readonly PlaceStep[]> & { readonly edit?: Edit })[];
}

/** Set in `1/model.yaml` of the LLM API's model, or fixed in config.json of an engine. */
export interface FileKnob extends Described {
  readonly place: 'model.yaml' | 'engine config.json';
  /** `set`: the value that `--fix` writes. */
  readonly look: (
    value: Readonly<Record<string, unknown>>,
    release: RepositoryRelease,
  ) => readonly (Sighting<Path> & { readonly set?: unknown })[];
}

/** Not written in any file of a repository: shown in docs/determinism.md, and named by the audit as not seen. */
export interface UnseenKnob extends Described {
  readonly place: 'environment' | 'command line' | 'client';
}

export type Knob = ConfigKnob | FileKnob | UnseenKnob;
