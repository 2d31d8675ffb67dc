import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';

interface Component {
  readonly type?: string;
  readonly [key: string]: unknown;
}

/**
 * Refuses tokenizers whose ids or text the JavaScript library does not compute exactly, by name.
 *
 * Each entry was measured against the Rust library (docs/decisions/003-tokenizer.md).
 * Errors: `tokenizer-inexact`.
 */
export function refuseInexact(dir: string, json: Record<string, unknown>): void {
  const problems: string[] = [];
  const model = (json['model'] ?? {}) as Component;
  if (model.type === 'Unigram' && model['byte_fallback'] === true) problems.push('model Unigram with byte_fallback');
  if (json['truncation']) problems.push('truncation');
  if (json['padding']) problems.push('padding');
  for (const token of (json['added_tokens'] ?? []) as Component[]) {
    if (token['single_word'] === true) problems.push(`added token ${JSON.stringify(token['content'])} with single_word`);
  }
  for (const part of components(json['decoder'])) {
    if (part.type === 'ByteFallback') problems.push('decoder ByteFallback (differs when a text is cut inside a character)');
  }
  for (const part of components(json['pre_tokenizer'])) {
    if (part.type === 'CharDelimiterSplit' || part.type === 'UnicodeScripts') problems.push(`pre-tokenizer ${part.type}`);
    if (part.type === 'Split' && (part['behavior'] === 'MergedWithNext' || part['behavior'] === 'Contiguous')) {
      problems.push(`pre-tokenizer Split with behavior ${part['behavior']}`);
    }
  }
  for (const part of components(json['normalizer'])) {
    if (part.type === 'Nmt' || part.type === 'ByteLevel') problems.push(`normalizer ${part.type}`);
  }
  if (problems.length > 0) {
    throw new LockstepError(
      'tokenizer-inexact',
      `${join(dir, 'tokenizer.json')} uses what cannot be computed exactly here: ${problems.join('; ')}`,
      {
        hint: 'Byte-level BPE tokenizers are supported today; answers judged with this one could be wrong.',
      },
    );
  }
}

function components(value: unknown): Component[] {
  if (value === null || typeof value !== 'object') return [];
  const part = value as Component;
  const inner = (part['pretokenizers'] ?? part['decoders'] ?? part['normalizers']) as Component[] | undefined;
  return inner === undefined ? [part] : inner.flatMap(components);
}
