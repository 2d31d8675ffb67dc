import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';

const token = z.union([z.string(), z.looseObject({ content: z.string() })], { error: 'expected a token, or {"content": …}' }).nullish();

const CONFIG = z.looseObject({
  bos_token: token,
  eos_token: token,
  pad_token: token,
  clean_up_tokenization_spaces: z.boolean({ error: 'expected true or false' }).nullish(),
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))], {
      error: 'expected a template, or a list of {"name": …, "template": …}',
    })
    .nullish(),
});

export interface TokenizerConfig {
  readonly bos: string | undefined;
  readonly eos: string | undefined;
  readonly pad: string | undefined;
  readonly tidies: boolean;
  readonly chatTemplate: { readonly text: string; readonly file: string } | undefined;
}

/**
 * What is read of tokenizer_config.json, and the chat template: chat_template.jinja beside it where there is one, of a list the
 * one that is named `default` (huggingface/transformers `tokenization_utils_base.py`).
 *
 * Errors: `tokenizer-malformed`, with the field.
 */
export function tokenizerConfigOf(dir: string, value: Readonly<Record<string, unknown>>): TokenizerConfig {
  const file = join(dir, 'tokenizer_config.json');
  const { data, error } = CONFIG.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    throw new LockstepError('tokenizer-malformed', `${file}, ${issue?.path.join('.')}: ${issue?.message.replace('Invalid input: ', '')}`, {
      hint: 'Copy the file anew from where the checkpoint came from.',
    });
  }
  const text = (given: z.output<typeof token>) => (typeof given === 'object' ? given?.content : given);
  return {
    bos: text(data.bos_token),
    eos: text(data.eos_token),
    pad: text(data.pad_token),
    // Where nothing is said transformers 4.45 and later tidy nothing.
    tidies: data.clean_up_tokenization_spaces === true,
    chatTemplate: templateOf(dir, file, data.chat_template),
  };
}

function templateOf(
  dir: string,
  file: string,
  given: z.output<typeof CONFIG>['chat_template'],
): { readonly text: string; readonly file: string } | undefined {
  const jinja = join(dir, 'chat_template.jinja');
  if (existsSync(jinja)) return { text: readFileSync(jinja, 'utf8'), file: jinja };
  const text = Array.isArray(given) ? given.find(({ name }) => name === 'default')?.template : given;
  return text === undefined || text === null ? undefined : { text, file };
}
