/** The parts of a Hugging Face tokenizer.json that are read here; names as in the file. */

export interface Component {
  readonly type?: string;
  readonly [key: string]: unknown;
}

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly normalized?: boolean;
  readonly single_word?: boolean;
  /** Takes the white space before it along. */
  readonly lstrip?: boolean;
  /** Takes the white space after it along. */
  readonly rstrip?: boolean;
}

export interface BpeModel extends Component {
  readonly vocab: Readonly<Record<string, number>>;
  readonly merges: readonly (string | readonly [string, string])[];
  readonly byte_fallback?: boolean;
}

export interface TokenizerJson {
  readonly added_tokens?: readonly AddedToken[];
  readonly normalizer?: Component | null;
  readonly pre_tokenizer?: Component | null;
  readonly post_processor?: Component | null;
  readonly decoder?: Component | null;
  readonly model: BpeModel;
  readonly truncation?: unknown;
  readonly padding?: unknown;
}

/** The steps of a normalizer, pre-tokenizer, post-processor or decoder: a Sequence opened, nothing for null. */
export function stepsOf(part: Component | null | undefined): readonly Component[] {
  if (part === null || part === undefined) return [];
  if (part.type !== 'Sequence') return [part];
  const inner = part['normalizers'] ?? part['pretokenizers'] ?? part['processors'] ?? part['decoders'] ?? [];
  return (inner as readonly Component[]).flatMap(stepsOf);
}

/** Pattern of a Replace or Split: a literal text or an Oniguruma expression. */
export function patternOf(part: Component): { readonly String?: string; readonly Regex?: string } {
  return (part['pattern'] ?? {}) as { String?: string; Regex?: string };
}
