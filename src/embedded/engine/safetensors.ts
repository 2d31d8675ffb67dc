import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';

/** One tensor, widened to float64; `shape` as in the file, values row-major. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float64Array;
}

const whole = z.int().min(0);
const ENTRY = z.object({ dtype: z.string(), shape: z.array(whole), data_offsets: z.tuple([whole, whole]) });
type Entry = z.output<typeof ENTRY>;

const BYTES: Readonly<Record<string, number>> = { F32: 4, BF16: 2 };

/**
 * Reads the bytes of a .safetensors file: 8 bytes little-endian header length, a JSON header
 * {name: {dtype, shape, data_offsets}}, raw little-endian tensors (huggingface/safetensors README, "Format").
 *
 * F32 and BF16 only; both widen to float64 exactly. `path` is for messages. Errors: `checkpoint-truncated`,
 * `checkpoint-malformed`, `checkpoint-dtype`.
 */
export function parseSafetensors(bytes: Uint8Array, path: string): ReadonlyMap<string, Tensor> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = bytes.length < 8 ? Infinity : Number(view.getBigUint64(0, true));
  const bodyStart = 8 + headerLength;
  if (bodyStart > bytes.length) throw truncated(path, bytes.length, bodyStart);
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(parseHeader(bytes.subarray(8, bodyStart), path))) {
    if (name === '__metadata__') continue;
    const { data, error } = ENTRY.safeParse(entry);
    if (data === undefined) throw malformedHeader(`tensor ${name} in the header of ${path}: ${z.prettifyError(error).split('\n')[0]}`);
    tensors.set(name, readTensor(view, bodyStart, name, data, path));
  }
  return tensors;
}

function parseHeader(bytes: Uint8Array, path: string): object {
  const json = parseJson(Buffer.from(bytes));
  if (json.text === undefined) throw malformedHeader(`the header of ${path} is not JSON: ${json.problem}`);
  if (typeof json.value !== 'object' || json.value === null) throw malformedHeader(`the header of ${path} is no object`);
  return json.value;
}

function malformedHeader(text: string): LockstepError {
  return new LockstepError('checkpoint-malformed', text, { hint: 'Restore the file from version control; it is not a .safetensors file.' });
}

function readTensor(view: DataView, bodyStart: number, name: string, entry: Entry, path: string): Tensor {
  const width = BYTES[entry.dtype];
  if (width === undefined) {
    throw new LockstepError('checkpoint-dtype', `tensor ${name} of ${path} is ${entry.dtype}; F32 and BF16 are read`, {
      hint: 'Save the checkpoint in float32 or bfloat16.',
    });
  }
  const count = entry.shape.reduce((product, size) => product * size, 1);
  const [begin, end] = entry.data_offsets;
  if (end - begin !== count * width) {
    throw new LockstepError('checkpoint-malformed', `tensor ${name} of ${path} has ${end - begin} bytes for ${count} values`, {
      hint: 'Restore the file from version control.',
    });
  }
  const start = bodyStart + begin;
  if (begin < 0 || start + count * width > view.byteLength) throw truncated(path, view.byteLength, bodyStart + end);
  const values = new Float64Array(count);
  if (width === 4) for (let i = 0; i < count; i++) values[i] = view.getFloat32(start + i * 4, true);
  else for (let i = 0; i < count; i++) values[i] = widenBf16(view.getUint16(start + i * 2, true));
  return { shape: entry.shape, values };
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The value of a bfloat16 given as its 16 bits: the upper half of a float32. */
function widenBf16(half: number): number {
  bits[0] = half << 16;
  return float[0] as number;
}

/** The nearest bfloat16, ties to even. Finite values only. */
export function roundToBf16(value: number): number {
  float[0] = value;
  const word = bits[0] as number;
  bits[0] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000;
  return float[0] as number;
}

function truncated(path: string, has: number, needs: number): LockstepError {
  return new LockstepError('checkpoint-truncated', `${path} ends too early`, {
    hint: 'Restore the file from version control; an interrupted download or a Git LFS pointer looks like this.',
    context: { bytes: has, needed: Number.isFinite(needs) ? needs : undefined },
  });
}
