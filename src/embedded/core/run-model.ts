import { nowNs } from '#core/clock/index.ts';
import type { CancelToken } from './cancel-token.ts';
import type { CheckedRequest } from './check-request.ts';
import type { LoadedModel } from './loaded-model.ts';
import { type CoreProfile, instanceText } from '#core/profile/index.ts';
import { type Model, type ModelRequest, type StreamPosition, tracebackText } from './model.ts';
import { CoreError, type CoreInferRequest, type CoreTensor, type ParameterValue, type ResponsePart, type ResponseSink } from './types.ts';

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** An ensemble step asks for the same list of outputs each time. */
function asSet(names: readonly string[]): ReadonlySet<string> {
  let set = sets.get(names);
  if (set === undefined) sets.set(names, (set = new Set(names)));
  return set;
}

export const NO_PARAMETERS: ReadonlyMap<string, ParameterValue> = new Map();

const positions = new WeakMap<ModelRequest, StreamPosition>();

/**
 * Where a request stands in its stream, or undefined. No tensor carries this on real servers; only the profile that
 * holds back partial characters may look.
 */
export function streamPosition(request: ModelRequest): StreamPosition | undefined {
  return positions.get(request);
}

/**
 * Runs a checked request on a back-end model and counts it. Must not be called for ensembles.
 *
 * The sink gets what the model sends, limited to the requested outputs; `final` comes exactly once. An exception
 * inside `execute` becomes INTERNAL `Failed to process the request(s) for model '<m>_0_0', message: …`.
 */
export function runModel(
  model: LoadedModel,
  implementation: Model,
  request: CoreInferRequest,
  checked: CheckedRequest,
  token: CancelToken,
  queuedNs: number,
  sink: ResponseSink,
  core: CoreProfile,
  position?: StreamPosition,
): void {
  const startNs = nowNs();
  const requested = request.requestedOutputs.length === 0 ? model.allOutputs : asSet(request.requestedOutputs);
  const keepsAll = requested.size === model.outputs.size || (model.decoupled && !core.decoupledOutputsFiltered.value);
  let ended = false;
  let failed = false;

  const end = (): void => {
    ended = true;
    const endNs = nowNs();
    model.inFlight--;
    const times = { queuedNs, startNs, inputDoneNs: startNs, inferDoneNs: endNs, endNs };
    if (!failed || core.failuresExecute.value) model.statistics.executed(checked.batchSize, times);
    if (failed) model.statistics.failed('BACKEND', times);
    else model.statistics.succeeded(checked.batchSize, times);
  };
  const respond = (outputs: readonly CoreTensor[], error: CoreError | undefined, final: boolean, part?: ResponsePart): void => {
    if (ended) return;
    if (final) end();
    sink({ modelName: model.name, modelVersion: model.version, id: request.id, parameters: NO_PARAMETERS, outputs, error, part }, final);
  };

  const modelRequest: ModelRequest = {
    id: request.id,
    parameters: request.parameters,
    inputs: checked.inputs,
    requestedOutputs: requested,
    batchSize: checked.batchSize,
    isCancelled: () => core.cancelReachesModels.value && token.isCancelled(),
    onCancel: (run) => (core.cancelReachesModels.value ? token.onCancel(run) : undefined),
  };
  if (position !== undefined) positions.set(modelRequest, position);
  model.statistics.started();
  try {
    implementation.execute(modelRequest, {
      send: (outputs, final, part) => respond(keepsAll ? outputs : outputs.filter((o) => requested.has(o.name)), undefined, final, part),
      sendError: (code, text, final) => {
        // The Python backend counts what `execute` did: errors that a decoupled model sends later are successes to it.
        failed ||= !ended && !model.decoupled;
        respond([], new CoreError(code, text), final);
      },
      close: () => {
        if (ended) return;
        end();
        sink(undefined, true);
      },
    });
  } catch (thrown) {
    if (ended) throw thrown;
    failed = true;
    respond([], new CoreError('INTERNAL', tracebackText(instanceText(core, model.name), thrown, model.directory)), true);
  }
}
