import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { Model } from './model.ts';
import type { StatisticsRecorder } from './statistics.ts';

/** One served version of a model. */
export interface LoadedModel {
  readonly name: string;
  readonly version: string;
  readonly directory: string;
  readonly config: ModelConfig;
  /** Undefined for ensembles: the core itself runs them. */
  readonly implementation: Model | undefined;
  readonly statistics: StatisticsRecorder;
  /** Inputs and outputs by name, so that checks cost no search. */
  readonly inputs: ReadonlyMap<string, ModelConfig['input'][number]>;
  readonly outputs: ReadonlyMap<string, ModelConfig['output'][number]>;
  readonly allOutputs: ReadonlySet<string>;
  readonly requiredInputs: readonly string[];
  readonly decoupled: boolean;
  /** 0 for ensembles. */
  readonly loadSeconds: number;
  /** Requests that were taken in and have not ended. */
  inFlight: number;
}
