import type { ChatMessage } from '#core/request/index.ts';

export interface Tokenizer {
  /** Folder it was loaded from. */
  readonly dir: string;
  /** SHA-256 of tokenizer.json. */
  readonly hash: string;
  readonly vocabSize: number;
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly padId: number | undefined;
  /** Ids that skip_special_tokens drops. */
  readonly specialIds: ReadonlySet<number>;
  encode(text: string, options: { readonly addSpecialTokens: boolean }): number[];
  /** Exact text of the ids, spaces tidied where tokenizer_config.json says so; '' for none; an incomplete character becomes U+FFFD. */
  decode(ids: ArrayLike<number>, options?: { readonly skipSpecialTokens?: boolean }): string;
  /** The token's own spelling in the vocabulary, for reports. Undefined for an id out of range. */
  tokenText(id: number): string | undefined;
  /** The bytes of text that the token stands for, for reports; undefined for an id out of range and for special tokens. */
  tokenBytes(id: number): Uint8Array | undefined;
  /**
   * Renders the chat template, or the one that is given. Errors: `chat-template-missing`, `chat-template-failed`.
   */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatTemplateOptions): string;
  /** A decoder for one stream: gives text as soon as it is certain, holds back parts of a character. */
  stream(options?: StreamOptions): StreamDecoder;
}

export interface ChatTemplateOptions {
  readonly addGenerationPrompt: boolean;
  /** Jinja text in place of the tokenizer's own. */
  readonly template?: string | undefined;
  /** What the template may read besides messages, add_generation_prompt and the texts of BOS and EOS. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

export interface StreamOptions {
  /** Default: true. */
  readonly skipSpecialTokens?: boolean;
  /** As Hugging Face's `DecodeStream` gives text: a character of byte tokens at once, though the bytes after it may spoil it. Spaces are tidied in what each push gives alone. */
  readonly eager?: boolean;
}

export interface StreamDecoder {
  /** Text that became certain with these ids; '' while a character is incomplete. */
  push(ids: ArrayLike<number>): string;
  /** What was held back, at the end of the answer: ends in U+FFFD when a character was cut. */
  flush(): string;
}
