/** What faults do to the text of an answer. */
import type { Frontend } from './endpoints.ts';

export function retouching(frontend: Pick<Frontend, 'faults' | 'tokenizer'>, chat: boolean): (text: string, last: boolean) => string {
  const { faults, tokenizer } = frontend;
  if (chat && faults.has('openai-frontend-empty-content')) return () => '';
  if (chat && faults.has('harmony-tokens-leak')) {
    const eos = tokenizer?.eosId === undefined ? undefined : tokenizer.tokenText(tokenizer.eosId);
    return (text, last) => (last ? `${text}${eos ?? '<|return|>'}` : text);
  }
  return (text) => text;
}
