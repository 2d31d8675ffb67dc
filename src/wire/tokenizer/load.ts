import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { LockstepError } from '#core/errors/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { parseJson } from '#core/json/index.ts';
import type { ChatMessage } from '#core/request/index.ts';
import { tokenDecoder } from './decode.ts';
import { encoder } from './encode.ts';
import { refuseInexact } from './exactness.ts';
import { streamDecoder } from './stream.ts';
import { tidied, tidiedPieces, tidiedStream } from './tidy.ts';
import { structureOf } from './structure.ts';
import type { TokenizerJson } from './tokenizer-json.ts';
import { type TokenizerConfig, tokenizerConfigOf } from './tokenizer-config.ts';
import type { Tokenizer } from './types.ts';

/**
 * Loads a Hugging Face tokenizer folder (tokenizer.json and tokenizer_config.json).
 *
 * Ids and texts are those of the Rust library (docs/decisions/003-tokenizer.md); a tokenizer for which that is not known
 * is refused by name, never silently wrong.
 *
 * Errors: `tokenizer-missing`, `tokenizer-malformed`, `tokenizer-inexact`.
 */
export function loadTokenizer(dir: string): Tokenizer {
  const { value, hash } = readJson(dir, 'tokenizer.json');
  const config = existsSync(join(dir, 'tokenizer_config.json')) ? readJson(dir, 'tokenizer_config.json').value : {};
  const json = structureOf(join(dir, 'tokenizer.json'), value);
  try {
    refuseInexact(dir, json);
    return makeTokenizer(dir, hash, json, tokenizerConfigOf(dir, config));
  } catch (thrown) {
    if (thrown instanceof LockstepError) throw thrown;
    throw new LockstepError('tokenizer-malformed', `${join(dir, 'tokenizer.json')}: ${(thrown as Error).message}`, {
      hint: 'Check that the file is a Hugging Face fast tokenizer; open it with the Python package `tokenizers` to compare.',
      cause: thrown,
    });
  }
}

function makeTokenizer(dir: string, hash: string, json: TokenizerJson, config: TokenizerConfig): Tokenizer {
  const added = json.added_tokens ?? [];
  const ids = new Map([...Object.entries(json.model.vocab), ...added.map(({ content, id }) => [content, id] as const)]);
  const special = new Set(added.filter((token) => token.special === true).map((token) => token.content));
  const encode = encoder(json);
  const decoder = tokenDecoder(json);
  const idOf = (name: 'bos' | 'eos' | 'pad'): number | undefined => {
    const text = config[name];
    if (text === undefined) return undefined;
    const id = ids.get(text);
    if (id !== undefined) return id;
    throw new LockstepError(
      'tokenizer-malformed',
      `${join(dir, 'tokenizer_config.json')}, ${name}_token: ${JSON.stringify(text)} is no token of tokenizer.json`,
      {
        hint: 'Take both files from the same checkpoint.',
      },
    );
  };
  const isShown = (token: string): boolean => !special.has(token);

  let template: Template | undefined;
  const chatTemplate = (): Template => {
    if (config.chatTemplate === undefined) {
      throw new LockstepError('chat-template-missing', `${dir} has no chat template`, {
        hint: 'Use prompts of kind text, or a tokenizer folder with a chat_template in tokenizer_config.json, or chat_template.jinja beside it.',
      });
    }
    return (template ??= new Template(config.chatTemplate.text));
  };

  return {
    dir,
    hash,
    vocabSize: Array.from(ids.values()).reduce((most, id) => Math.max(most, id), -1) + 1,
    bosId: idOf('bos'),
    eosId: idOf('eos'),
    padId: idOf('pad'),
    specialIds: new Set(added.filter((token) => special.has(token.content)).map((token) => token.id)),
    encode: (text, { addSpecialTokens }) => encode(text, addSpecialTokens),
    decode: (list, { skipSpecialTokens = true } = {}) => {
      const tokens = Array.from(list, (id) => decoder.tokenOf(id)).filter((token) => token !== undefined);
      const text = decoder.decode(skipSpecialTokens ? tokens.filter(isShown) : tokens);
      return config.tidies ? tidied(text) : text;
    },
    tokenText: (id) => decoder.tokenOf(id),
    tokenBytes: (id) => {
      const token = decoder.tokenOf(id);
      return token === undefined || special.has(token) ? undefined : decoder.bytesOf(token);
    },
    applyChatTemplate: (messages: readonly ChatMessage[], { addGenerationPrompt, template: given, variables }) => {
      try {
        return (given === undefined ? chatTemplate() : new Template(given)).render({
          ...variables,
          messages,
          add_generation_prompt: addGenerationPrompt,
          bos_token: config.bos ?? '',
          eos_token: config.eos ?? '',
        });
      } catch (thrown) {
        if (thrown instanceof LockstepError) throw thrown;
        throw new LockstepError(
          'chat-template-failed',
          `the chat template ${given === undefined ? `of ${config.chatTemplate?.file ?? dir}` : 'of the request'} failed: ${(thrown as Error).message}`,
          {
            hint: 'Render the same messages with transformers to see whether the template or the messages are at fault.',
            cause: thrown,
          },
        );
      }
    },
    stream: ({ skipSpecialTokens = true, eager = false } = {}) => {
      const stream = streamDecoder(decoder, (token) => !skipSpecialTokens || isShown(token), eager);
      return !config.tidies ? stream : eager ? tidiedPieces(stream) : tidiedStream(stream);
    },
  };
}

function readJson(dir: string, file: string): { value: Record<string, unknown>; hash: string } {
  const path = join(dir, file);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (thrown) {
    throw missing(dir, path, thrown as NodeJS.ErrnoException);
  }
  const parsed = parseJson(bytes);
  const { value } = parsed;
  if (parsed.text !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { value: value as Record<string, unknown>, hash: sha256(bytes) };
  }
  const what = parsed.text === undefined ? `:${parsed.line}:${parsed.column}: no JSON: ${parsed.problem}` : ': expected an object';
  throw new LockstepError('tokenizer-malformed', `${path}${what}`, {
    hint: 'Restore the file; it may have been cut off while it was copied.',
  });
}

/** Files from which transformers makes a tokenizer.json. */
const SLOW = [/\.model$/, /\.spm$/, /^vocab\.(json|txt)$/, /\.tiktoken$/];

function missing(dir: string, path: string, cause: NodeJS.ErrnoException): LockstepError {
  const error = (text: string, hint: string) => new LockstepError('tokenizer-missing', text, { hint, cause });
  if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') return error(`cannot read ${path}: ${cause.code}`, 'Correct its permissions.');
  if (!existsSync(dir)) return error(`${dir} does not exist`, 'Point --tokenizer, or --checkpoint, at a folder with tokenizer.json.');
  if (!statSync(dir).isDirectory()) return error(`${dir} is not a folder`, 'Name the folder that tokenizer.json lies in.');
  const slow = readdirSync(dir).find((file) => SLOW.some((name) => name.test(file)));
  if (slow === undefined)
    return error(`there is no tokenizer in ${dir}`, 'Point --tokenizer, or --checkpoint, at a folder with tokenizer.json.');
  return error(
    `${dir} has ${slow} and no tokenizer.json`,
    `Convert it: python3 -c "from transformers import AutoTokenizer; AutoTokenizer.from_pretrained('${dir}').save_pretrained('${dir}')"`,
  );
}
