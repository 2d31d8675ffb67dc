import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UNKNOWN } from '#core/identity/index.ts';
import { type CommandOptions, runCommand } from './run-command.ts';

const WITHIN_MS = 20_000;

/** Reads the package's metadata and imports nothing: the package itself wants a GPU. */
const TENSORRT_LLM = [
  'import importlib.metadata as m',
  'try: print(m.version("tensorrt_llm"))',
  'except m.PackageNotFoundError: print("none")',
].join('\n');

export interface HostFactsOptions {
  /** Where programs are looked for, as in the variable PATH. */
  readonly path?: string;
  readonly signal?: AbortSignal | undefined;
  /** How long each program may take, in milliseconds: a driver that nobody keeps loaded takes many seconds for its first answer. */
  readonly withinMs?: number;
}

/**
 * What of a server's identity lies on its host: GPUs with their driver, by nvidia-smi, and the TensorRT-LLM of the
 * python3 on PATH, which the Python models use. "none" without a driver or a package, "unknown" where nobody answers.
 *
 * Errors: `interrupted`.
 */
export async function hostFacts({ path = process.env['PATH'] ?? '', signal, withinMs = WITHIN_MS }: HostFactsOptions = {}): Promise<
  Readonly<Record<string, string>>
> {
  const [smi, python] = [find('nvidia-smi', path), find('python3', path)];
  const ask = async (program: string | undefined, args: readonly string[], what: string) =>
    program === undefined ? undefined : asked(program, args, { ms: withinMs, what, signal });
  const [gpus, tensorrtLlm] = await Promise.all([
    ask(smi, ['--query-gpu=name,driver_version,uuid', '--format=csv,noheader'], 'nvidia-smi'),
    ask(python, ['-c', TENSORRT_LLM], 'the version of TensorRT-LLM'),
  ]);
  const noDriver = smi === undefined && !existsSync('/proc/driver/nvidia');
  return { gpu: gpus?.join('; ') ?? (noDriver ? 'none' : UNKNOWN), 'tensorrt-llm': tensorrtLlm?.at(-1) ?? UNKNOWN };
}

async function asked(program: string, args: readonly string[], options: CommandOptions): Promise<readonly string[] | undefined> {
  try {
    const lines = (await runCommand(program, args, options)).split('\n').map((line) => line.trim());
    return lines.filter((line) => line !== '');
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
}

function find(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}
