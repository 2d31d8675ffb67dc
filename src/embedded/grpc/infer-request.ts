import type { InferInputTensor, InferParameter, ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { type Datatype, ELEMENT_SIZE } from '#wire/protocol/tensors.ts';
import { CoreError, type CoreInferRequest, type CoreTensor, type SharedMemory, type TritonCore } from '../core/index.ts';
import { checkReservedParameters } from '../core/request-parameters.ts';
import { parametersOf } from './request-parameters.ts';
import { rawContents } from './typed-contents.ts';

/** Where one output goes instead of into the message. */
export interface OutputPlacement {
  readonly region: string;
  readonly offset: number;
  readonly byteSize: number;
}

export interface ReadRequest {
  readonly core: CoreInferRequest;
  /** `triton_enable_empty_final_response`. */
  readonly wantsEmptyFinal: boolean;
  readonly placements: ReadonlyMap<string, OutputPlacement>;
}

/**
 * gRPC request → core request, with the checks that the front end makes before the core sees it: version, model,
 * reserved parameters, and per input where its data is (server `src/grpc/infer_handler.cc`).
 *
 * Errors: CoreError.
 */
export function readInferRequest(message: ModelInferRequest, core: TritonCore): ReadRequest {
  const parameters = parametersOf(message.parameters);
  checkReservedParameters(parameters, 'grpc');
  const wantsEmptyFinal = parameters.get('triton_enable_empty_final_response');
  if (wantsEmptyFinal !== undefined && typeof wantsEmptyFinal !== 'boolean') {
    throw new CoreError('INVALID_ARG', "invalid value type for 'triton_enable_empty_final_response' parameter, expected bool_param.");
  }
  const placements = new Map<string, OutputPlacement>();
  for (const output of message.outputs) {
    const placement = placementOf(output.parameters);
    if (placement !== undefined) placements.set(output.name, placement);
  }
  return {
    core: {
      modelName: message.model_name,
      modelVersion: message.model_version,
      id: message.id,
      parameters,
      inputs: readInputs(message, core.sharedMemory),
      requestedOutputs: message.outputs.map((o) => o.name),
    },
    wantsEmptyFinal: wantsEmptyFinal === true,
    placements,
  };
}

function readInputs(message: ModelInferRequest, memory: SharedMemory): CoreTensor[] {
  const raw = message.raw_input_contents;
  const model = message.model_name;
  let next = 0;
  return message.inputs.map((input) => {
    const placement = placementOf(input.parameters);
    if (placement !== undefined) return tensorOf(input, memory.read(placement.region, placement.offset, placement.byteSize));
    if (raw.length > 0 && input.contents !== null) {
      throw new CoreError(
        'INVALID_ARG',
        `contents field must not be specified when using raw_input_contents for '${input.name}' for model '${model}'`,
      );
    }
    const data =
      raw.length > 0
        ? raw[next++]
        : input.contents === null
          ? undefined
          : rawContents(input.contents, input.name, input.datatype as Datatype, model);
    if (data === undefined)
      throw new CoreError('INVALID_ARG', `unable to find data for input tensor '${input.name}' for model '${model}' in request.`);
    return tensorOf(input, data);
  });
}

function tensorOf(input: InferInputTensor, data: Uint8Array): CoreTensor {
  // An unknown datatype passes here and is refused by the core, as '<invalid>'.
  const datatype = (input.datatype in ELEMENT_SIZE ? input.datatype : '<invalid>') as Datatype;
  return { name: input.name, datatype, shape: input.shape.map(Number), data };
}

function placementOf(parameters: Readonly<Record<string, InferParameter>>): OutputPlacement | undefined {
  const region = parameters['shared_memory_region']?.string_param;
  if (region === undefined) return undefined;
  return {
    region,
    offset: Number(parameters['shared_memory_offset']?.int64_param ?? 0),
    byteSize: Number(parameters['shared_memory_byte_size']?.int64_param ?? 0),
  };
}
