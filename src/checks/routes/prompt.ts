/** From a request's prompt to what each route sends. */
import type { Prompt, Request } from '#core/request/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { chatText, type Tokenizer } from '#wire/tokenizer/index.ts';

/** Ids for the raw model: what preprocessing makes of the text that the other routes send. */
export function promptIds(prompt: Prompt, tokenizer: Tokenizer): Int32Array {
  return Int32Array.from(prompt.kind === 'ids' ? prompt.ids : tokenizer.encode(promptText(prompt, tokenizer), { addSpecialTokens: true }));
}

/**
 * Text for the routes that tokenize on the server. A rendered chat template loses its leading BOS text, since
 * preprocessing adds the BOS again.
 *
 * Errors: `case-not-carriable` for ids.
 */
export function promptText(prompt: Prompt, tokenizer: Tokenizer): string {
  switch (prompt.kind) {
    case 'ids':
      throw new LockstepError('case-not-carriable', 'token ids cannot be sent as text', { hint: 'Ask cannotCarry before running a case.' });
    case 'text':
      return prompt.text;
    case 'messages':
      return chatText(tokenizer, prompt.messages);
  }
}

/** Why a route that sends text cannot carry the request, or undefined. */
export function textRouteCannotCarry(request: Request): string | undefined {
  if (request.prompt.kind === 'ids') return 'a text route tokenizes on the server and cannot send token ids';
  if (request.limits.stopAtEos === false) return 'a text route always stops at EOS';
  return undefined;
}
