import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UNKNOWN } from '#core/identity/index.ts';
import { runCommand } from './process/run-command.ts';

const WITHIN_MS = 20_000;

/** Reads the package's metadata and imports nothing: the package itself wants a GPU. */
const TENSORRT_LLM = 'import importlib.metadata; print(importlib.metadata.version("tensorrt_llm"))';

export interface HostFactsOptions {
  /** Where programs are looked for, as in the variable PATH. */
  readonly path?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What of a server's identity lies on its host: GPUs with their driver, by nvidia-smi, and the TensorRT-LLM of the
 * python3 on PATH, which the Python models use. "none" without a driver, "unknown" where one does not answer.
 *
 * Errors: `interrupted`.
 */
export async function hostFacts({ path = process.env['PATH'] ?? '', signal }: HostFactsOptions = {}): Promise<
  Readonly<Record<string, string>>
> {
  const [smi, python] = [find('nvidia-smi', path), find('python3', path)];
  const [gpus, tensorrtLlm] = await Promise.all([
    smi === undefined ? undefined : asked(smi, ['--query-gpu=name,driver_version,uuid', '--format=csv,noheader'], 'nvidia-smi', signal),
    python === undefined ? undefined : asked(python, ['-c', TENSORRT_LLM], 'the version of TensorRT-LLM', signal),
  ]);
  const noDriver = smi === undefined && !existsSync('/proc/driver/nvidia');
  return { gpu: gpus?.join('; ') ?? (noDriver ? 'none' : UNKNOWN), 'tensorrt-llm': tensorrtLlm?.at(-1) ?? 'none' };
}

async function asked(program: string, args: readonly string[], what: string, signal?: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    const lines = (await runCommand(program, args, { ms: WITHIN_MS, what, signal })).split('\n').map((line) => line.trim());
    return lines.filter((line) => line !== '');
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

function find(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}
