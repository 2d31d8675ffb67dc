import { LockstepError } from '#core/errors/index.ts';
import { ELEMENT_SIZE, elementCount, fp32Values, type Tensor } from '#wire/protocol/tensors.ts';

/** Who won one step, how far ahead, and who came second. */
export interface Margin {
  readonly margin: number;
  readonly winner: number;
  readonly runnerUp: number;
}

/**
 * Margins of every row of generation_logits (FP32, FP16 or BF16 [1, beams, steps, vocabulary], one beam). The
 * difference of two log-probabilities of one row is the difference of their logits. Of equal logits the lowest id is
 * first, as a strict comparison in order of ids finds it.
 *
 * Errors: `tensor-malformed`.
 */
export function margins(logits: Tensor): Margin[] {
  const vocabulary = logits.shape.at(-1) ?? 0;
  const values = floats(logits);
  if (vocabulary < 2 || values.length % vocabulary !== 0 || values.length !== elementCount(logits.shape)) {
    throw new LockstepError(
      'tensor-malformed',
      `${logits.name} ${logits.datatype} [${logits.shape.join(', ')}] has ${values.length} elements`,
    );
  }
  const out: Margin[] = [];
  for (let row = 0; row < values.length; row += vocabulary) {
    let first = -1;
    let second = -1;
    let top = -Infinity;
    let next = -Infinity;
    for (let id = 0; id < vocabulary; id++) {
      const value = values[row + id] as number;
      if (value > top || first === -1) {
        second = first;
        next = top;
        first = id;
        top = value;
      } else if (value > next || second === -1) {
        second = id;
        next = value;
      }
    }
    out.push({ margin: top - next, winner: first, runnerUp: second });
  }
  return out;
}

function floats(tensor: Tensor): Float32Array {
  const { data, datatype } = tensor;
  if (data.byteLength % (ELEMENT_SIZE[datatype] || 1) !== 0)
    throw new LockstepError('tensor-malformed', `${tensor.name} ${datatype} has ${data.byteLength} bytes`);
  if (datatype === 'FP32') return fp32Values(data);
  if (datatype !== 'FP16' && datatype !== 'BF16')
    throw new LockstepError('tensor-malformed', `${tensor.name} has datatype ${datatype}, expected FP32, FP16 or BF16`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const out = new Float32Array(data.byteLength >> 1);
  const bits = new Uint32Array(out.buffer);
  for (let i = 0; i < out.length; i++) {
    const half = view.getUint16(2 * i, true);
    if (datatype === 'BF16') bits[i] = half << 16;
    else out[i] = halfToNumber(half);
  }
  return out;
}

/** IEEE 754 binary16. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
