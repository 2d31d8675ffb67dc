/** Copies of a checkpoint whose weights are not quite, or not at all, what they were. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rngFrom } from '#core/seed/index.ts';

export type Rebuilt = { readonly path: string } & Disposable;

/**
 * Every weight of a tensor whose name the function gives a number for is multiplied by 1 ± that number: what an engine built with other kernels, or
 * in lower precision, does to sums.
 */
export function rebuilt(from: string, path: string, change: (tensor: string) => number): Rebuilt {
  cpSync(from, path, { recursive: true });
  const file = join(path, 'model.safetensors');
  const bytes = readFileSync(file);
  const header = Number(bytes.readBigUInt64LE(0));
  const tensors = JSON.parse(bytes.subarray(8, 8 + header).toString('utf8')) as Record<
    string,
    { readonly dtype?: string; readonly data_offsets?: readonly [number, number] }
  >;
  const rng = rngFrom(1, 'rebuilt');
  for (const [name, { dtype, data_offsets: offsets }] of Object.entries(tensors)) {
    const by = change(name);
    if (by === 0 || offsets === undefined) continue;
    if (dtype !== 'F32') throw new Error(`${name} is ${dtype}, and F32 is meant`);
    for (let at = 8 + header + offsets[0]; at < 8 + header + offsets[1]; at += 4) {
      bytes.writeFloatLE(bytes.readFloatLE(at) * (1 + (2 * rng.float() - 1) * by), at);
    }
  }
  writeFileSync(file, bytes);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
