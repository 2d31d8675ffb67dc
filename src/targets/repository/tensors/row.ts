import type { RepositoryRelease } from '#core/profile/index.ts';
import { isWithin, type Span } from '../span.ts';

/** Types that the one who fills the template chooses; the others are data types without `TYPE_`. */
export type ChosenType = 'LOGITS' | 'ENCODER_FEATURES' | 'PROMPT_TABLE';

/** One input or output of a stock model, as the releases in its span declare it. */
export interface TensorRow extends Span {
  readonly name: string | ((release: RepositoryRelease) => string);
  readonly type: string;
  /** Without the batch dimension; -1 = any. */
  readonly dims: readonly number[];
  readonly optional: boolean;
  /** Reshaped to no dimension at all: the client sends [batch, 1] and the model sees [batch]. */
  readonly scalar: boolean;
  readonly ragged: boolean;
  /** Further condition. */
  readonly when?: (release: RepositoryRelease) => boolean;
}

type Flags = '' | 'optional' | 'scalar' | 'ragged' | 'optional scalar' | 'optional ragged';

export function row(
  name: TensorRow['name'],
  type: string,
  dims: readonly number[],
  flags: Flags = '',
  only: Span & Pick<TensorRow, 'when'> = {},
): TensorRow {
  const has = (word: string) => flags.split(' ').includes(word);
  return { name, type, dims, optional: has('optional'), scalar: has('scalar'), ragged: has('ragged'), ...only };
}

export interface DeclaredTensor extends Omit<TensorRow, 'name' | 'when' | 'since' | 'until'> {
  readonly name: string;
}

/** The rows that a release has, names resolved. */
export function declared(rows: readonly TensorRow[], release: RepositoryRelease): readonly DeclaredTensor[] {
  return rows
    .filter((one) => isWithin(release, one) && (one.when?.(release) ?? true))
    .map(({ name, type, dims, optional, scalar, ragged }) => ({
      name: typeof name === 'string' ? name : name(release),
      type,
      dims,
      optional,
      scalar,
      ragged,
    }))
    .filter(({ name }) => name !== 'none');
}
