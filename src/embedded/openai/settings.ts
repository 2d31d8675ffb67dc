/** How the front end is started: its own flags, as far as they show in answers. A release that has no such flag ignores it. */
export interface FrontEndSettings {
  /** `--model-control-mode`; absent: none. */
  readonly modelControl?: 'explicit';
  /** `--openai-restricted-api`: these APIs answer only who sends the header with this value. */
  readonly restricted?: readonly Restriction[];
  /** `--http-max-input-size` in bytes; absent: the release's default. */
  readonly maxInputBytes?: number;
  /** `--tool-call-parser`; absent: none. */
  readonly toolCallParser?: 'llama3';
  /** `--max-tool-call-parse-bytes`; absent: the release's default. */
  readonly maxToolCallParseBytes?: number;
}

export interface Restriction {
  readonly apis: readonly ('inference' | 'model-repository' | 'metrics' | 'health')[];
  readonly header: string;
  readonly value: string;
}
