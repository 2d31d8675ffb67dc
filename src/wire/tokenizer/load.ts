import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer as Inner } from '@huggingface/tokenizers';
import { LockstepError } from '#core/errors/index.ts';
import { sha256 } from '#core/hash/index.ts';
import type { ChatMessage } from '#core/request/index.ts';
import { streamDecoder } from './stream.ts';
import type { Tokenizer } from './types.ts';
import { refuseInexact } from './exactness.ts';

/**
 * Loads a Hugging Face tokenizer folder (tokenizer.json and tokenizer_config.json).
 *
 * The inner library is exact on byte-level BPE (docs/decisions/003-tokenizer.md); what it does not do exactly is
 * refused by name here, never silently wrong.
 *
 * Errors: `tokenizer-missing`, `tokenizer-malformed`, `tokenizer-inexact`.
 */
export function loadTokenizer(dir: string): Tokenizer {
  const json = readJson(dir, 'tokenizer.json');
  const config = existsSync(join(dir, 'tokenizer_config.json')) ? readJson(dir, 'tokenizer_config.json') : { value: {}, hash: '' };
  refuseInexact(dir, json.value);
  let inner: Inner;
  try {
    inner = new Inner(json.value, config.value);
  } catch (thrown) {
    throw new LockstepError('tokenizer-malformed', `${join(dir, 'tokenizer.json')}: ${(thrown as Error).message}`, {
      hint: 'Check that the file is a Hugging Face fast tokenizer; open it with the Python package `tokenizers` to compare.',
      cause: thrown,
    });
  }
  return wrap(dir, json.hash, inner, config.value);
}

interface TokenizerConfig {
  readonly chat_template?: unknown;
  readonly [special: string]: unknown;
}

function wrap(dir: string, hash: string, inner: Inner, config: TokenizerConfig): Tokenizer {
  const vocab = inner.get_vocab(true);
  const specialText = (name: string): string | undefined => {
    const value = config[name];
    if (typeof value === 'string') return value;
    return typeof value === 'object' && value !== null && 'content' in value ? String(value.content) : undefined;
  };
  const idOf = (name: string): number | undefined => {
    const text = specialText(name);
    return text === undefined ? undefined : inner.token_to_id(text);
  };
  const specialIds = new Set<number>();
  for (const [id, token] of inner.get_added_tokens_decoder()) if (token.special) specialIds.add(id);

  let template: Template | undefined;
  const chatTemplate = (): Template => {
    if (template !== undefined) return template;
    if (typeof config.chat_template !== 'string') {
      throw new LockstepError('chat-template-missing', `${join(dir, 'tokenizer_config.json')} has no chat_template`, {
        hint: 'Use prompts of kind text, or a tokenizer folder whose tokenizer_config.json has a chat_template.',
      });
    }
    template = new Template(config.chat_template);
    return template;
  };

  const tokenizer: Tokenizer = {
    dir,
    hash,
    vocabSize: Math.max(...vocab.values()) + 1,
    bosId: idOf('bos_token'),
    eosId: idOf('eos_token'),
    padId: idOf('pad_token'),
    specialIds,
    encode: (text, { addSpecialTokens }) =>
      text === '' && !addSpecialTokens ? [] : [...inner.encode(text, { add_special_tokens: addSpecialTokens }).ids],
    // The library throws on an empty list, and tidies spaces unless it is told not to.
    decode: (ids, { skipSpecialTokens = true } = {}) =>
      ids.length === 0
        ? ''
        : inner.decode(Array.from(ids), { skip_special_tokens: skipSpecialTokens, clean_up_tokenization_spaces: false }),
    tokenText: (id) => inner.id_to_token(id),
    applyChatTemplate: (messages: readonly ChatMessage[], { addGenerationPrompt, template: given, variables }) => {
      try {
        return (given === undefined ? chatTemplate() : new Template(given)).render({
          ...variables,
          messages,
          add_generation_prompt: addGenerationPrompt,
          bos_token: specialText('bos_token') ?? '',
          eos_token: specialText('eos_token') ?? '',
        });
      } catch (thrown) {
        if (thrown instanceof LockstepError) throw thrown;
        throw new LockstepError('chat-template-failed', `the chat template of ${dir} failed: ${(thrown as Error).message}`, {
          hint: 'Render the same messages with transformers to see whether the template or the messages are at fault.',
          cause: thrown,
        });
      }
    },
    stream: (options) => streamDecoder((ids) => tokenizer.decode(ids, options)),
  };
  return tokenizer;
}

function readJson(dir: string, file: string): { value: Record<string, unknown>; hash: string } {
  const path = join(dir, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new LockstepError('tokenizer-missing', `cannot read ${path}: ${(thrown as NodeJS.ErrnoException).code}`, {
      hint: "Point --tokenizer at a folder with tokenizer.json. A slow tokenizer is converted by: python3 -c \"from transformers import AutoTokenizer; AutoTokenizer.from_pretrained('DIR').save_pretrained('DIR')\"",
      cause: thrown,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('expected an object');
    return { value: value as Record<string, unknown>, hash: sha256(text) };
  } catch (thrown) {
    throw new LockstepError('tokenizer-malformed', `${path} is not JSON: ${(thrown as Error).message}`, {
      hint: 'Restore the file; it may have been cut off while it was copied.',
      cause: thrown,
    });
  }
}
