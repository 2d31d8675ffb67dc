/** The seam between the core and the models it runs: what Triton's backend API is upstream. */
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { CoreInferRequest, CoreTensor, InferHandle, ParameterValue, ResponsePart, ResponseSink } from './types.ts';

/** A request as a model sees it: checked, batch dimension still in the shapes. */
export interface ModelRequest {
  readonly id: string;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly inputs: ReadonlyMap<string, CoreTensor>;
  readonly requestedOutputs: ReadonlySet<string>;
  /** Leading dimension of the inputs; 1 for models without batching. */
  readonly batchSize: number;
  isCancelled(): boolean;
  /** Runs once when the request is marked cancelled, at once if it already is. */
  onCancel(run: () => void): void;
}

/** How a model answers. After `final` everything is dropped, as the real sender's exceptions stay inside the model. */
export interface ResponseSender {
  send(outputs: readonly CoreTensor[], final: boolean, part?: ResponsePart): void;
  /** Text as it is: no "Failed to process…" around it. */
  sendError(code: 'INTERNAL' | 'INVALID_ARG' | 'UNAVAILABLE' | 'CANCELLED', text: string, final: boolean): void;
  /** The flag-only end. */
  close(): void;
}

export interface Model {
  /** May throw: the request fails as if Python's `execute` had raised (INTERNAL). Answers may come later. */
  execute(request: ModelRequest, sender: ResponseSender): void;
  /** Extra families for the metrics port, or ''. */
  metricsText?(): string;
}

/** Position of a request in a stream of chunks: told by whoever runs a step for each chunk of a decoupled one. */
export interface StreamPosition {
  /** The same object for all chunks of one request. */
  readonly key: object;
  /** The answer of that request which the chunk is of, and whether it is its last. */
  readonly part: ResponsePart;
}

/** What a response says of its part; a model that says nothing answers in one. */
export function partOf({ part }: { readonly part?: ResponsePart | undefined }, final: boolean): ResponsePart {
  return part ?? { index: 0, last: final };
}

/**
 * Runs a request on another model of the same server, as `InferenceRequest.exec` of the Python backend does. Throws
 * CoreError when it is refused; otherwise the sink gets what comes, perhaps already inside this call.
 */
export type Exec = (request: CoreInferRequest, sink: ResponseSink, position?: StreamPosition) => InferHandle;

export interface ModelSetup {
  readonly config: ModelConfig;
  /** Folder of the model in the repository: relative paths in parameters start here. */
  readonly directory: string;
  readonly version: string;
  readonly exec: Exec;
}

/** Makes one loaded version of a model. May throw: the load fails with the text. */
export type ModelFactory = (setup: ModelSetup) => Model;

/** An exception inside `execute`, with the place the traceback would name, e.g. `/m/preprocessing/1/model.py(345): execute`. */
export class ExecuteError extends Error {
  readonly at: readonly string[];
  constructor(message: string, at: readonly string[]) {
    super(message);
    this.at = at;
  }
}

/** Text of the response to a request whose `execute` raised (docs/observed.md#triton-2-51). */
export function tracebackText(instance: string, thrown: unknown, directory: string): string {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const at = error instanceof ExecuteError ? error.at : [`${directory}/1/model.py(1): execute`];
  const message = error instanceof ExecuteError ? error.message : `${error.name}: ${error.message}`;
  return `Failed to process the request(s) for ${instance}, message: ${message}\n\nAt:\n${at.map((line) => `  ${line}\n`).join('')}`;
}
