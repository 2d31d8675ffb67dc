import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LockstepError } from '#core/errors/index.ts';
import { readCheckpoint } from './checkpoint.ts';
import { parseSafetensors, roundToBf16 } from './safetensors.ts';
import { CHECKPOINT } from './testing.ts';

let folder = '';
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'lockstep-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const config = JSON.parse(readFileSync(join(CHECKPOINT, 'config.json'), 'utf8')) as Record<string, unknown>;
const weights = readFileSync(join(CHECKPOINT, 'model.safetensors'));
const write = (changes: object = {}, bytes: Uint8Array = weights) => {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...changes }));
  writeFileSync(join(folder, 'model.safetensors'), bytes);
};
const codeOf = (run: () => unknown) => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof LockstepError && thrown.hint !== undefined) return thrown.code;
    throw thrown;
  }
  return 'no error';
};

test('the tiny checkpoint is read with its sizes, tied output and EOS', () => {
  const { config: sizes, embedding, output, eosId } = readCheckpoint(CHECKPOINT);
  expect(sizes).toEqual({
    hidden: 64,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    headDim: 16,
    ff: 192,
    vocab: 512,
    maxPositions: 512,
    normEps: 1e-5,
    ropeTheta: 10_000,
  });
  expect(output).toBe(embedding);
  expect(eosId).toBe(1);
});

test('rope_theta is read from either spelling', () => {
  write({ rope_parameters: undefined, rope_theta: 5000 });
  expect(readCheckpoint(folder).config.ropeTheta).toBe(5000);
  write({ rope_parameters: { rope_theta: 6000, rope_type: 'default' }, rope_theta: undefined });
  expect(readCheckpoint(folder).config.ropeTheta).toBe(6000);
});

test('what is wrong with a folder is said by code', () => {
  expect(codeOf(() => readCheckpoint(join(folder, 'nowhere')))).toBe('checkpoint-missing');
  write({}, weights.subarray(0, weights.length - 1));
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-truncated');
  write({}, new TextEncoder().encode('version https://git-lfs.github.com/spec/v1'));
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-truncated');
  write({}, weights.subarray(0, 4));
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-truncated');
  write({ intermediate_size: 200 });
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-shape');
  write({ num_hidden_layers: 4 });
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-shape');
  write({ architectures: ['Qwen2ForCausalLM'] });
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-architecture');
  write({ rope_scaling: { type: 'linear', factor: 2 } });
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-architecture');
  write({ vocab_size: 'many' });
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-malformed');
  writeFileSync(join(folder, 'config.json'), '{');
  expect(codeOf(() => readCheckpoint(folder))).toBe('checkpoint-malformed');
});

test('BF16 widens exactly, F16 is refused', () => {
  const file = (dtype: string, body: Uint8Array) => {
    const header = new TextEncoder().encode(JSON.stringify({ w: { dtype, shape: [2], data_offsets: [0, body.length] } }));
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
    return Buffer.concat([length, header, body]);
  };
  // 0x3fc0 = 1.5, 0xc049 = -3.140625
  expect(parseSafetensors(file('BF16', Uint8Array.of(0xc0, 0x3f, 0x49, 0xc0)), 'x').get('w')?.values).toEqual(
    Float64Array.of(1.5, -3.140625),
  );
  expect(codeOf(() => parseSafetensors(file('F16', new Uint8Array(4)), 'x'))).toBe('checkpoint-dtype');
  expect(codeOf(() => parseSafetensors(file('F32', new Uint8Array(4)), 'x'))).toBe('checkpoint-malformed');
});

test('rounding to bfloat16 goes to the nearest, ties to even', () => {
  expect(roundToBf16(-3.14)).toBe(-3.140625);
  expect(roundToBf16(1 + 1 / 256)).toBe(1);
  expect(roundToBf16(1 + 3 / 256)).toBe(1 + 4 / 256);
});
