/** From a request's prompt to what each route sends. */
import type { Prompt, Request } from '#core/request/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/**
 * Ids for the raw model: what preprocessing would make of it. A rendered chat template has its BOS already, so nothing
 * is added to it.
 */
export function promptIds(prompt: Prompt, tokenizer: Tokenizer): Int32Array {
  switch (prompt.kind) {
    case 'ids':
      return Int32Array.from(prompt.ids);
    case 'text':
      return Int32Array.from(tokenizer.encode(prompt.text, { addSpecialTokens: true }));
    case 'messages':
      return Int32Array.from(tokenizer.encode(render(prompt, tokenizer), { addSpecialTokens: false }));
  }
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
    case 'messages': {
      const rendered = render(prompt, tokenizer);
      const bos = tokenizer.bosId === undefined ? undefined : tokenizer.tokenText(tokenizer.bosId);
      return bos !== undefined && rendered.startsWith(bos) ? rendered.slice(bos.length) : rendered;
    }
  }
}

/** Why a route that sends text cannot carry the request, or undefined. */
export function textRouteCannotCarry(request: Request): string | undefined {
  if (request.prompt.kind === 'ids') return 'a text route tokenizes on the server and cannot send token ids';
  if (request.limits.stopAtEos === false) return 'a text route always stops at EOS';
  return undefined;
}

function render(prompt: Extract<Prompt, { kind: 'messages' }>, tokenizer: Tokenizer): string {
  return tokenizer.applyChatTemplate(prompt.messages, { addGenerationPrompt: true });
}
