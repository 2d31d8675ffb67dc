export type { StreamDecoder, Tokenizer } from './types.ts';
export { loadTokenizer } from './load.ts';
export { chatText } from './chat-text.ts';
