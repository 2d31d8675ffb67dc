import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import type { TokenizerJson } from './tokenizer-json.ts';

const id = z
  .int()
  .min(0)
  .max(2 ** 32 - 1);
const flag = z.boolean().optional();
const said = z.boolean();
const pattern = z.union([z.strictObject({ String: z.string() }), z.strictObject({ Regex: z.string() })], {
  error: 'expected {"String": …} or {"Regex": …}',
});
const piece = z.union(
  [z.strictObject({ SpecialToken: z.looseObject({ id: z.string() }) }), z.strictObject({ Sequence: z.looseObject({}) })],
  {
    error: 'expected {"SpecialToken": {"id": …}} or {"Sequence": …}',
  },
);

/** What the steps of every role are made of; a name means the same in all of them. */
const component: z.ZodType = z.lazy(() =>
  z
    .looseObject({
      type: z.string(),
      prepend: z.string().optional(),
      pattern: pattern.optional(),
      content: z.string().optional(),
      replacement: z
        .string()
        .refine((text) => Array.from(text).length === 1, 'expected one character')
        .optional(),
      prepend_scheme: z.enum(['always', 'first', 'never']).optional(),
      split: flag,
      behavior: z.enum(['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']).optional(),
      invert: flag,
      individual_digits: flag,
      add_prefix_space: flag,
      trim_offsets: flag,
      use_regex: flag,
      start: id.optional(),
      stop: id.optional(),
      single: z.array(piece).optional(),
      special_tokens: z.record(z.string(), z.looseObject({ ids: z.array(id) })).optional(),
      normalizers: z.array(component).optional(),
      pretokenizers: z.array(component).optional(),
      processors: z.array(component).optional(),
      decoders: z.array(component).optional(),
    })
    .superRefine((part, context) => {
      for (const name of NEEDED.get(part.type) ?? []) {
        if (part[name] === undefined) context.addIssue({ code: 'custom', message: `a ${part.type} needs ${name}` });
      }
      const wanted = (part.single ?? []).flatMap((one) => ('SpecialToken' in one ? [one.SpecialToken.id] : []));
      const missing = wanted.find((name) => !Object.hasOwn(part.special_tokens ?? {}, name));
      if (missing !== undefined) {
        context.addIssue({ code: 'custom', path: ['special_tokens'], message: `lacks ${JSON.stringify(missing)}, which single names` });
      }
    }),
);

const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Prepend', ['prepend']],
  ['Replace', ['pattern', 'content']],
  ['Split', ['pattern', 'behavior', 'invert']],
  ['Metaspace', ['replacement']],
  ['TemplateProcessing', ['single', 'special_tokens']],
  ['Strip', ['content', 'start', 'stop']],
]);

const role = component.nullish();

const TOKENIZER = z.looseObject({
  added_tokens: z
    .array(
      z.looseObject({ id, content: z.string().min(1), special: said, normalized: said, single_word: said, lstrip: said, rstrip: said }),
    )
    .optional(),
  normalizer: role,
  pre_tokenizer: role,
  post_processor: role,
  decoder: role,
  // Vocabulary and merges are looked at one by one below: zod takes a second for 128,000 of each.
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.custom((value) => typeof value === 'object' && value !== null, 'expected object'),
    byte_fallback: flag,
  }),
});

/** Deeper than any tokenizer, and far from where the stack ends. */
const DEEPEST = 20;

/**
 * The parts of a tokenizer.json that are read here, of the types that they must have.
 *
 * Errors: `tokenizer-malformed`, with the path of the part inside of the file.
 */
export function structureOf(file: string, value: Readonly<Record<string, unknown>>): TokenizerJson {
  // What is inside of the model is looked at one by one.
  if (depthOf({ ...value, model: undefined }) > DEEPEST)
    throw malformed(file, [], `more than ${DEEPEST} lists and objects inside of each other`);
  const parsed = TOKENIZER.safeParse(value);
  const issue = parsed.error?.issues[0];
  if (issue !== undefined) throw malformed(file, issue.path, issue.message.replace('Invalid input: ', ''));
  const json = value as unknown as TokenizerJson;
  // Of other kinds of model the next look says that they are not supported.
  if (json.model.type === 'BPE' || 'merges' in json.model) checkModel(file, json);
  return json;
}

/** What the Rust library asks of a BPE model when it loads one (huggingface/tokenizers `models/bpe/model.rs`, `build`). */
function checkModel(file: string, { model }: TokenizerJson): void {
  const { vocab, merges } = model as { readonly vocab: Readonly<Record<string, unknown>>; readonly merges: unknown };
  if (!isObject(vocab)) throw malformed(file, ['model', 'vocab'], 'expected object');
  const tokens = new Map<unknown, string>();
  for (const [token, number] of Object.entries(vocab)) {
    const at = () => ['model', 'vocab', token];
    if (!Number.isInteger(number) || (number as number) < 0) throw malformed(file, at(), 'expected a whole number from 0');
    const other = tokens.get(number);
    if (other !== undefined) throw malformed(file, at(), `the id ${String(number)} is that of ${JSON.stringify(other)} too`);
    tokens.set(number, token);
  }
  if (!Array.isArray(merges)) throw malformed(file, ['model', 'merges'], 'expected a list of merges');
  for (const [i, merge] of (merges as readonly unknown[]).entries()) {
    const at = ['model', 'merges', i];
    const [left, right, more]: unknown[] = typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : [];
    if (typeof left !== 'string' || typeof right !== 'string' || more !== undefined) {
      throw malformed(file, at, 'expected two tokens, as ["a", "b"] or "a b"');
    }
    const missing = [left, right, left + right].find((token) => !Object.hasOwn(vocab, token));
    if (missing !== undefined) throw malformed(file, at, `${JSON.stringify(missing)} is no token of the vocabulary`);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function depthOf(root: unknown): number {
  let depth = 0;
  for (let floor = [root]; floor.length > 0; depth++) {
    floor = floor.flatMap((value) => (typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : []));
  }
  return depth;
}

function malformed(file: string, path: readonly PropertyKey[], text: string): LockstepError {
  const place = path.map((step) => (/^[a-z_]\w*$/i.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(step)}]`)).join('');
  return new LockstepError('tokenizer-malformed', `${file}${place === '' ? '' : `, ${place.replace(/^\./, '')}`}: ${text}`, {
    hint: 'Copy the file anew from where the checkpoint came from; the Python package `tokenizers` loads the one that is meant.',
  });
}
