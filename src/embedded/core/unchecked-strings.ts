import { type CoreProfile, instanceText } from '#core/profile/index.ts';
import { CoreError, type CoreTensor } from './types.ts';

/**
 * What the Python backend makes of a BYTES tensor that the core did not check (up to 2.46, docs/observed.md#triton-by-release): it
 * reads lengths until the bytes end, then gives what it read the shape that was named. Errors: INTERNAL.
 */
export function readUncheckedStrings(tensor: CoreTensor, elements: number, model: string, core: CoreProfile): void {
  const { data, shape } = tensor;
  const fail = (message: string): never => {
    throw new CoreError('INTERNAL', `Failed to process the request(s) for ${instanceText(core, model)}, message: ${message}`);
  };
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let count = 0;
  for (let at = 0; at + 4 <= data.length; count++) {
    const length = view.getUint32(at, true);
    const end = at + 4 + length;
    if (end > data.length)
      fail(
        `error: unpack_from requires a buffer of at least ${end} bytes for unpacking ${length} bytes at offset ${at + 4} (actual buffer size is ${data.length})\n\nAt:\n  triton_python_backend_utils.py(117): deserialize_bytes_tensor\n`,
      );
    at = end;
  }
  if (shape[0] === 0) fail('ValueError: cannot reshape array of size 0 into shape (1,)');
  if (count !== elements) fail(`ValueError: cannot reshape array of size ${count} into shape (${shape.join(',')})`);
}
