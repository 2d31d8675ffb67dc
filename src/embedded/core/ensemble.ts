import { nowNs } from '#core/clock/index.ts';
import type { CancelToken } from './cancel-token.ts';
import { type CheckedRequest, requestPrefix } from './check-request.ts';
import { neededSteps, planOf, type PlannedStep } from './ensemble-plan.ts';
import type { LoadedModel } from './loaded-model.ts';
import { partOf, type StreamPosition } from './model.ts';
import { NO_PARAMETERS } from './run-model.ts';
import {
  CoreError,
  type CoreInferRequest,
  type CoreInferResponse,
  type CoreTensor,
  type ParameterValue,
  type ResponsePart,
  type ResponseSink,
} from './types.ts';

/** What an ensemble needs from the core around it. */
export interface EnsembleHost {
  /** The model of a step, ready to run. Throws CoreError as for a client's request. */
  find(name: string, version: number): LoadedModel;
  /** Checks and runs; throws CoreError when the step's request is refused. */
  start(model: LoadedModel, request: CoreInferRequest, token: CancelToken, sink: ResponseSink, position: StreamPosition | undefined): void;
  /** Whether a cancel reaches steps that are already running (CoreProfile). */
  readonly cancelReachesRunningStep: boolean;
  /** A step's failure is counted on the ensemble once as the step's and once as its own. */
  readonly stepFailuresCountTwice: boolean;
}

/** Marked from the start: what a step gets that is scheduled after the cancel. */
const CANCELLED: CancelToken = { isCancelled: () => true, cancel: () => undefined, onCancel: (run) => run() };
const NEVER: CancelToken = { isCancelled: () => false, cancel: () => undefined, onCancel: () => undefined };

/**
 * Tensors that exist at one point of the run. A response of a decoupled step opens a scope of its own, in which the
 * steps behind it run for that response alone.
 */
interface Scope {
  readonly parent: Scope | undefined;
  /** undefined = known to be absent (an optional input not given, an output not produced). */
  readonly tensors: Map<string, CoreTensor | undefined>;
  readonly started: Set<PlannedStep>;
  running: number;
  /** Whether responses are built from scopes below this one. */
  forked: boolean;
  responded: boolean;
  readonly position: StreamPosition | undefined;
}

/**
 * Runs one request through the steps of `ensemble_scheduling` (core `src/ensemble_scheduler/`).
 *
 * One response per complete set of outputs, in order of completion; `final` rides on the last one when nothing else
 * is in flight, otherwise a flag-only end follows. Errors of steps: `in ensemble '<name>', <text>`, with the step's
 * code, once everything in flight has ended. Nothing can run and no response was given: a decoupled ensemble ends
 * flag-only, any other with INVALID_ARG `… unexpected deadlock …`.
 */
export class EnsembleRun {
  readonly #host: EnsembleHost;
  readonly #model: LoadedModel;
  readonly #steps: readonly PlannedStep[];
  readonly #request: CoreInferRequest;
  readonly #checked: CheckedRequest;
  readonly #token: CancelToken;
  readonly #sink: ResponseSink;
  readonly #queuedNs: number;
  readonly #startNs = nowNs();
  readonly #outputs: readonly string[];
  readonly #parameters: ReadonlyMap<string, ParameterValue>;
  #inFlight = 0;
  #error: CoreError | undefined;
  #responses = 0;
  #ended = false;

  constructor(
    host: EnsembleHost,
    model: LoadedModel,
    request: CoreInferRequest,
    checked: CheckedRequest,
    token: CancelToken,
    queuedNs: number,
    sink: ResponseSink,
  ) {
    this.#host = host;
    this.#model = model;
    this.#request = request;
    this.#checked = checked;
    this.#token = token;
    this.#queuedNs = queuedNs;
    this.#sink = sink;
    const requested = new Set(request.requestedOutputs);
    this.#outputs = [...model.outputs.keys()].filter((name) => requested.size === 0 || requested.has(name));
    const steps = planOf(model.config);
    this.#steps = requested.size === 0 ? steps : neededSteps(steps, this.#outputs);
    this.#parameters = new Map<string, ParameterValue>([
      ['sequence_id', request.parameters.get('sequence_id') ?? 0n],
      ['sequence_start', request.parameters.get('sequence_start') ?? false],
      ['sequence_end', request.parameters.get('sequence_end') ?? false],
    ]);
  }

  run(): void {
    this.#model.statistics.started();
    const root: Scope = {
      parent: undefined,
      tensors: new Map(),
      started: new Set(),
      running: 0,
      forked: false,
      responded: false,
      position: undefined,
    };
    for (const input of this.#model.config.input) {
      const tensor = this.#checked.inputs.get(input.name);
      // A required input that is missing stays unknown: its steps never run (the core only counted inputs).
      if (tensor !== undefined || input.optional) root.tensors.set(input.name, tensor);
    }
    this.#advance(root);
    this.#settle();
  }

  #advance(scope: Scope): void {
    for (const step of this.#steps) {
      if (this.#error !== undefined) return;
      if (scope.started.has(step)) continue;
      let model: LoadedModel;
      try {
        model = this.#host.find(step.modelName, step.modelVersion);
      } catch (thrown) {
        this.#fail(thrown);
        return;
      }
      const inputs = stepInputs(scope, step, model);
      if (inputs !== undefined) this.#start(scope, step, model, inputs);
    }
  }

  #start(scope: Scope, step: PlannedStep, model: LoadedModel, inputs: readonly CoreTensor[]): void {
    scope.started.add(step);
    scope.running++;
    scope.forked ||= model.decoupled;
    this.#inFlight++;
    const request: CoreInferRequest = {
      modelName: model.name,
      modelVersion: model.version,
      id: this.#request.id,
      parameters: this.#request.parameters,
      inputs,
      requestedOutputs: step.outputNames,
    };
    const token = this.#token.isCancelled() ? CANCELLED : this.#host.cancelReachesRunningStep ? this.#token : NEVER;
    try {
      this.#host.start(model, request, token, (response, final) => this.#onResponse(scope, step, model, response, final), scope.position);
    } catch (thrown) {
      scope.running--;
      this.#inFlight--;
      this.#fail(thrown);
    }
  }

  #onResponse(scope: Scope, step: PlannedStep, model: LoadedModel, response: CoreInferResponse | undefined, final: boolean): void {
    if (final) {
      scope.running--;
      this.#inFlight--;
    }
    if (response?.error !== undefined) this.#fail(response.error);
    else if (response !== undefined && this.#error === undefined) {
      const target = model.decoupled ? this.#fork(scope, partOf(response, final)) : scope;
      for (const name of step.outputs.values()) target.tensors.set(name, undefined);
      for (const tensor of response.outputs) {
        const name = step.outputs.get(tensor.name);
        if (name !== undefined) target.tensors.set(name, tensor);
      }
      this.#advance(target);
      if (target.running === 0 && !target.forked && !target.responded) this.#emit(target);
    }
    this.#settle();
  }

  #fork(scope: Scope, part: ResponsePart): Scope {
    return {
      parent: scope,
      tensors: new Map(),
      started: new Set(scope.started),
      running: 0,
      forked: false,
      responded: false,
      position: { key: this, part },
    };
  }

  #emit(scope: Scope): void {
    if (this.#error !== undefined || this.#ended) return;
    const outputs: CoreTensor[] = [];
    for (const name of this.#outputs) {
      const found = lookUp(scope, name);
      if (found === undefined) return;
      if (found.tensor !== undefined) outputs.push(renamed(found.tensor, name));
    }
    scope.responded = true;
    this.#responses++;
    const final = this.#inFlight === 0;
    const { name: modelName, version: modelVersion } = this.#model;
    // A response without tensors carries no sequence parameters either (observed).
    const parameters = outputs.length === 0 ? NO_PARAMETERS : this.#parameters;
    const response: CoreInferResponse = { modelName, modelVersion, id: this.#request.id, parameters, outputs, error: undefined };
    if (final) this.#end();
    this.#sink(response, final);
  }

  #fail(thrown: unknown): void {
    const cause = thrown instanceof CoreError ? thrown : new CoreError('INTERNAL', (thrown as Error).message);
    this.#error ??= new CoreError(cause.code, `in ensemble '${this.#model.name}', ${cause.message}`);
  }

  /** Ends the run when nothing is in flight and the last response could not carry the flag. */
  #settle(): void {
    if (this.#ended || this.#inFlight > 0) return;
    if (this.#error === undefined && this.#responses === 0 && !this.#model.decoupled) {
      this.#fail(
        new CoreError(
          'INVALID_ARG',
          `${requestPrefix(this.#request.id)}unexpected deadlock, at least one output is not set while no more ensemble steps can be made`,
        ),
      );
    }
    this.#end();
    if (this.#error === undefined) {
      this.#sink(undefined, true);
      return;
    }
    const { name: modelName, version: modelVersion } = this.#model;
    this.#sink({ modelName, modelVersion, id: this.#request.id, parameters: NO_PARAMETERS, outputs: [], error: this.#error }, true);
  }

  #end(): void {
    this.#ended = true;
    this.#model.inFlight--;
    const endNs = nowNs();
    const times = { queuedNs: this.#queuedNs, startNs: this.#startNs, inputDoneNs: this.#startNs, inferDoneNs: endNs, endNs };
    if (this.#error !== undefined) {
      // Every failure of an ensemble is counted twice, whatever step it came from (observed on 2.51).
      this.#model.statistics.failed('OTHER', times);
      if (this.#host.stepFailuresCountTwice) this.#model.statistics.failed('OTHER', times);
    } else {
      this.#model.statistics.executed(this.#checked.batchSize, times);
      this.#model.statistics.succeeded(this.#checked.batchSize, times);
    }
  }
}

/** The step's inputs under its own names, or undefined while it cannot run. */
function stepInputs(scope: Scope, step: PlannedStep, model: LoadedModel): CoreTensor[] | undefined {
  const out: CoreTensor[] = [];
  for (const { input, tensor: name } of step.inputs) {
    const found = lookUp(scope, name);
    if (found === undefined) return undefined;
    if (found.tensor !== undefined) out.push(renamed(found.tensor, input));
    else if (model.inputs.get(input)?.optional !== true) return undefined;
  }
  return out;
}

function lookUp(scope: Scope, name: string): { readonly tensor: CoreTensor | undefined } | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    if (at.tensors.has(name)) return { tensor: at.tensors.get(name) };
  }
  return undefined;
}

function renamed({ datatype, shape, data }: CoreTensor, name: string): CoreTensor {
  return { name, datatype, shape, data };
}
