import { datatypeOf } from '#wire/protocol/model-config.ts';
import { ELEMENT_SIZE, elementCount } from '#wire/protocol/tensors.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { checkByteSize } from './byte-size.ts';
import { readUncheckedStrings } from './unchecked-strings.ts';
import type { LoadedModel } from './loaded-model.ts';
import { CoreError, type CoreInferRequest, type CoreTensor } from './types.ts';

/** What the checks find out on their way. */
export interface CheckedRequest {
  readonly inputs: ReadonlyMap<string, CoreTensor>;
  readonly batchSize: number;
}

const BATCH_NOTE =
  'NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input shape. ' +
  'If you want to specify the full shape including the batch dim in your input dims config, try setting max_batch_size to zero. ' +
  'See the model configuration docs for more info on max_batch_size.';

/** `[request id: <id>] `; a missing id prints as `<id_unknown>`. */
export function requestPrefix(id: string): string {
  return `[request id: ${id === '' ? '<id_unknown>' : id}] `;
}

/**
 * Checks a request against its model in Triton's order: duplicate input, requested outputs, number of inputs, batch
 * size, then per input dtype, shape and byte size (core `src/infer_request.cc`; texts of 2.51).
 *
 * `detectMissing`: false is what real cores do: only the number of inputs is compared, so a missing required input
 * goes unnoticed when optional ones make up the number. Errors: INVALID_ARG.
 */
export function checkRequest(model: LoadedModel, request: CoreInferRequest, core: CoreProfile): CheckedRequest {
  const prefix = requestPrefix(request.id);
  const refuse = (text: string): never => {
    throw new CoreError('INVALID_ARG', text);
  };
  const inputs = new Map<string, CoreTensor>();
  for (const tensor of request.inputs) {
    if (inputs.has(tensor.name)) refuse(`${prefix}input '${tensor.name}' already exists in request`);
    inputs.set(tensor.name, tensor);
  }
  // Last first: the order in which the core's own hash map gives a handful of inputs back, and so the one that decides
  // which input a text names (observed on 2.51).
  const lastFirst = request.inputs.toReversed();
  for (const name of request.requestedOutputs) {
    if (!model.outputs.has(name)) refuse(`unexpected inference output '${name}' for model '${model.name}'`);
  }
  checkInputCount(model, inputs, lastFirst, prefix, core);

  const { max_batch_size: maxBatch } = model.config;
  let batchSize = 0;
  for (const tensor of lastFirst) {
    if (!model.inputs.has(tensor.name)) refuse(`unexpected inference input '${tensor.name}' for model '${model.name}'`);
    if (maxBatch === 0) continue;
    const first = tensor.shape[0];
    if (first === undefined)
      return refuse(`${prefix}input '${tensor.name}' has no shape but model requires batch dimension for '${model.name}'`);
    if (batchSize === 0) batchSize = first;
    else if (first !== batchSize) refuse(`${prefix}input '${tensor.name}' batch size does not match other inputs for '${model.name}'`);
  }
  if (batchSize > maxBatch) refuse(`${prefix}inference request batch-size must be <= ${maxBatch} for '${model.name}'`);

  for (const tensor of lastFirst) checkTensor(model, tensor, Math.max(1, batchSize), prefix, core);
  return { inputs, batchSize: Math.max(1, batchSize) };
}

function checkInputCount(
  model: LoadedModel,
  inputs: ReadonlyMap<string, CoreTensor>,
  order: readonly CoreTensor[],
  prefix: string,
  { missingRequiredInputDetected, missingInputsNamed }: CoreProfile,
): void {
  const detectMissing = missingRequiredInputDetected.value;
  const total = model.config.input.length;
  const required = model.requiredInputs;
  const countFits = inputs.size >= required.length && inputs.size <= total;
  if (countFits && !detectMissing) return;
  const missing = required.filter((name) => !inputs.has(name));
  if (countFits && missing.length === 0) return;
  const expected = required.length === total ? `${total} inputs` : `number of inputs between ${required.length} and ${total}`;
  const counted = `${prefix}expected ${expected} but got ${inputs.size} inputs for model '${model.name}'`;
  if (!missingInputsNamed.value) throw new CoreError('INVALID_ARG', counted);
  const list = (names: Iterable<string>): string => [...names].map((n) => `'${n}'`).join(',');
  const got = ` Got input(s) [${list(order.map((t) => t.name))}]`;
  // With nothing missing (too many inputs) the real text loses its opening bracket.
  const lacking = `, but missing required input(s) ${missing.length > 0 ? '[' : ''}${list(missing)}]. Please provide all required input(s).`;
  throw new CoreError('INVALID_ARG', `${counted}.${got}${lacking}`);
}

function checkTensor(model: LoadedModel, tensor: CoreTensor, batchSize: number, prefix: string, core: CoreProfile): void {
  const config = model.inputs.get(tensor.name);
  if (config === undefined) return;
  const expected = datatypeOf(config.data_type);
  if (tensor.datatype !== expected) {
    const given = tensor.datatype in ELEMENT_SIZE ? tensor.datatype : '<invalid>';
    throw new CoreError(
      'INVALID_ARG',
      core.dtypeTextNamesInput.value
        ? `${prefix}inference input '${tensor.name}' data-type is '${given}', but model '${model.name}' expects '${expected}'`
        : `${prefix}inference input data-type is '${given}', model expects '${expected}' for '${model.name}'`,
    );
  }
  const batched = model.config.max_batch_size > 0;
  const dims = batched ? tensor.shape.slice(1) : tensor.shape;
  if (dims.some((d) => d < 0)) {
    throw new CoreError(
      'INVALID_ARG',
      `${prefix}All input dimensions should be specified for input '${tensor.name}' for model '${model.name}', got [${tensor.shape.join(',')}]`,
    );
  }
  const fits = dims.length === config.dims.length && config.dims.every((d, i) => d === -1 || d === dims[i]);
  if (!fits) {
    const full = batched ? [-1, ...config.dims] : config.dims;
    throw new CoreError(
      'INVALID_ARG',
      `${prefix}unexpected shape for input '${tensor.name}' for model '${model.name}'. Expected [${full.join(',')}], got [${tensor.shape.join(',')}]. ${BATCH_NOTE}`,
    );
  }
  // A batch of 0 counts as 1 here, so it never has the right size (since 2.47).
  if (core.byteSizesChecked.value) checkByteSize(tensor, elementCount(dims) * batchSize, model.name, prefix, core);
  else if (tensor.datatype === 'BYTES' && model.config.backend === 'python') {
    const elements = elementCount(dims) * batchSize;
    if (batched || elements > 0) readUncheckedStrings(tensor, elements, model.name, core);
  }
}
