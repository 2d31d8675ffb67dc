import { ELEMENT_SIZE } from '#wire/protocol/tensors.ts';
import type { CoreProfile } from '#core/profile/index.ts';
import { CoreError, type CoreTensor } from './types.ts';

/**
 * Checks that an input carries as many bytes as its `elements` need (releases ≥ 2.47; texts of 2.51).
 *
 * Errors: INVALID_ARG. `prefix` is `[request id: …] `.
 */
export function checkByteSize(tensor: CoreTensor, elements: number, model: string, prefix: string, core: CoreProfile): void {
  if (tensor.datatype === 'BYTES') {
    checkStringElements(tensor, elements, model, prefix, core);
    return;
  }
  const expected = elements * ELEMENT_SIZE[tensor.datatype];
  if (tensor.data.length !== expected) {
    throw new CoreError(
      'INVALID_ARG',
      `${prefix}input byte size mismatch for input '${tensor.name}' for model '${model}'. Expected ${expected}, got ${tensor.data.length}`,
    );
  }
}

function checkStringElements(tensor: CoreTensor, expected: number, model: string, prefix: string, core: CoreProfile): void {
  const of = core.stringCountNamesModel.value ? ` for model '${model}'` : '';
  const { data, name } = tensor;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let count = 0;
  for (let at = 0; at < data.length;) {
    if (count >= expected) {
      throw new CoreError(
        'INVALID_ARG',
        `${prefix}unexpected number of string elements ${count + 1} for inference input '${name}' for model '${model}', expecting ${expected}`,
      );
    }
    const left = data.length - at;
    if (left < 4) {
      throw new CoreError(
        'INVALID_ARG',
        `${prefix}incomplete string length indicator for inference input '${name}' for model '${model}', expecting 4 bytes but only ${left} bytes available. Please make sure the string length indicator is in one buffer.`,
      );
    }
    const length = view.getUint32(at, true);
    if (length > left - 4) {
      throw new CoreError(
        'INVALID_ARG',
        `incomplete string data for inference input '${name}', expecting string of length ${length} but only ${left - 4} bytes available`,
      );
    }
    at += 4 + length;
    count++;
  }
  if (count !== expected) {
    throw new CoreError('INVALID_ARG', `${prefix}expected ${expected} string elements for inference input '${name}'${of}, got ${count}`);
  }
}
