import { LockstepError } from '#core/errors/index.ts';

/** Why a model did not load, in Triton's own words. */
export interface LoadFailure {
  readonly model: string;
  readonly reason: string;
}

/** A line of Triton's log begins with a level and a date: `E1201 14:03:22.123456 1 model.cc:1]`. */
const LOG_LINE = /^[IWEF]\d{4}\s/;

/** The three ways in which tritonserver 2.51 says it: while it loads a version, while it looks for one, while it reads the configuration. */
const FAILURES = [
  /failed to load '(?<model>[^']+)' version \d+: (?<reason>.*)/,
  /failed to load model '(?<model>[^']+)': (?<reason>.*)/,
  /Poll failed for model directory '(?<model>[^']+)': (?<reason>.*)/,
];
/** The parser of configurations tells the place on a line of its own, before. */
const PARSE_ERROR = /Error parsing text-format inference\.ModelConfig: (.*)/;

/** Finds the first failure in a log; a reason goes on until the next line that begins as one. */
export function findLoadFailure(lines: readonly string[]): LoadFailure | undefined {
  for (const [at, line] of lines.entries()) {
    const { model, reason } = FAILURES.map((form) => form.exec(line)?.groups).find((groups) => groups !== undefined) ?? {};
    if (model === undefined || reason === undefined) continue;
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => LOG_LINE.test(one) || /^([+|]|error: |Error: |\[libprotobuf )/.test(one));
    const text = [reason, ...rest.slice(0, end < 0 ? rest.length : end)].join('\n').trim().replace(/"$/, '').trim();
    const place = reason.startsWith('failed to read text proto') ? PARSE_ERROR.exec(lines[at - 1] ?? '')?.[1] : undefined;
    return { model, reason: place === undefined ? text : `${text}: ${place}` };
  }
  return undefined;
}

/** The error of a model that did not load, with Triton's reason; one of memory says what to lower. */
export function loadFailed(model: string, reason: string, log?: string): LockstepError {
  const memory = /out of memory|failed to allocate|bad_alloc|insufficient.*memory/i.test(reason);
  return new LockstepError('model-load-failed', `the model ${model} did not load: ${reason}`, {
    context: { log },
    hint: memory
      ? 'Free the GPU (nvidia-smi shows who has it), or lower kv_cache_free_gpu_mem_fraction or max_tokens_in_paged_kv_cache in config.pbtxt.'
      : `The reason is Triton's own; correct ${model}/config.pbtxt or what it names, and start again.`,
  });
}
