/** What every request of a running trtllm-serve has in common. */
import type { TorchPath, TrtllmServeProfile } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Engine } from '../engine/types.ts';

export interface ServeApp {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly facts: TrtllmServeProfile;
  readonly torch: TorchPath;
  /** The server's own name for what it serves: that of the checkpoint's folder. */
  readonly model: string;
  /** stream_interval: a response every so many iterations. */
  readonly streamInterval: number;
  /** max_num_tokens: the longest prompt without chunked prefill. */
  readonly maxNumTokens: number;
  readonly faults: ReadonlySet<string>;
  readonly nextRequestNumber: () => number;
}
