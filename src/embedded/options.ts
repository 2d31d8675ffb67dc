import { MODEL_REPOSITORY, TINY_CHECKPOINT } from '#core/config/index.ts';

/** How an embedded server is made; one process, one set of options. */
export interface EmbeddedOptions {
  /** 0 = any free port. */
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly metricsPort: number;
  readonly openaiPort: number;
  readonly host: string;
  /** A name that `profileOf` understands. */
  readonly profile: string;
  /** Fault ids switched on. */
  readonly faults: readonly string[];
  readonly engine: 'llama' | 'scripted';
  /** `batch`: sums are rounded to float32 in an order that depends on the batch, so near ties really flip. */
  readonly reduction: 'invariant' | 'batch';
  /** Checkpoint and tokenizer, Hugging Face format. */
  readonly checkpoint: string;
  /** Model repository whose config.pbtxt files are served. */
  readonly repository: string;
  /** Lowest time of one engine step in milliseconds; 0 = as fast as it goes. */
  readonly stepMs: number;
}

/** The server that is started when nobody asks for another: tiny checkpoint, exact sums, free ports, no faults. */
export const EMBEDDED_DEFAULTS: EmbeddedOptions = {
  grpcPort: 0,
  httpPort: 0,
  metricsPort: 0,
  openaiPort: 0,
  host: '127.0.0.1',
  profile: 'default',
  faults: [],
  engine: 'llama',
  reduction: 'invariant',
  checkpoint: TINY_CHECKPOINT,
  repository: MODEL_REPOSITORY,
  stepMs: 0,
};
