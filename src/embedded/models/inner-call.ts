/** Requests that a model makes of other models (BLS): `InferenceRequest.exec` of the Python backend. */
import {
  CoreError,
  type CoreInferResponse,
  type CoreTensor,
  type Exec,
  type InferHandle,
  partOf,
  type ResponsePart,
  type StreamPosition,
} from '../core/index.ts';
import { PythonError } from './python-traceback.ts';

export interface InnerRequest {
  readonly model: string;
  readonly id: string;
  readonly inputs: readonly CoreTensor[];
}

export interface InnerResponse {
  readonly outputs: readonly CoreTensor[];
  readonly part: ResponsePart;
}

/**
 * The responses of one request in order, without those that are only a flag. `started` gets the handle at once.
 *
 * Errors: PythonError TritonModelException with the text of the response or refusal.
 */
export async function* innerResponses(
  exec: Exec,
  request: InnerRequest,
  started?: (handle: InferHandle) => void,
): AsyncGenerator<InnerResponse, void, undefined> {
  const arrived: { readonly response: CoreInferResponse | undefined; readonly final: boolean }[] = [];
  let wake: () => void = () => {};
  start(exec, request, started, (response, final) => {
    arrived.push({ response, final });
    wake();
  });
  for (;;) {
    const next = arrived.shift();
    if (next === undefined) {
      await new Promise<void>((resolve) => (wake = resolve));
      continue;
    }
    const { response, final } = next;
    if (response?.error !== undefined) throw modelException(response.error);
    if (response !== undefined) yield { outputs: response.outputs, part: partOf(response, final) };
    if (final) return;
  }
}

/** The one response of a request to a model that is not decoupled. Errors: as `innerResponses`. */
export function innerResponse(exec: Exec, request: InnerRequest, position?: StreamPosition): Promise<readonly CoreTensor[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly CoreTensor[]>();
  const sink = (response: CoreInferResponse | undefined): void => {
    if (response?.error !== undefined) reject(modelException(response.error));
    else resolve(response?.outputs ?? []);
  };
  start(exec, request, undefined, sink, position);
  return promise;
}

function start(
  exec: Exec,
  { id, inputs, model }: InnerRequest,
  started: ((handle: InferHandle) => void) | undefined,
  sink: (response: CoreInferResponse | undefined, final: boolean) => void,
  position?: StreamPosition,
): void {
  try {
    const request = { modelName: model, modelVersion: '', id, parameters: new Map(), inputs, requestedOutputs: [] };
    const handle = exec(request, sink, position);
    started?.(handle);
  } catch (thrown) {
    if (thrown instanceof CoreError) throw modelException(thrown);
    throw thrown;
  }
}

function modelException({ message }: { readonly message: string }): PythonError {
  return new PythonError('c_python_backend_utils.TritonModelException', message);
}
