import { pollUntil, withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { askHttp } from './ask-http.ts';
import { loadFailed } from './load-failure.ts';
import { type ModelState, repositoryIndex } from './repository-index.ts';

interface ModelConfig {
  readonly name: string;
  readonly input?: readonly { readonly name: string }[];
  readonly model_transaction_policy?: { readonly decoupled?: boolean };
}

const ASK_WITHIN_MS = 10_000;
/** The first answer of an engine may compile and allocate. */
const CANARY_WITHIN_MS = 120_000;

/**
 * Waits for the server, then for each model, then for one answer: a server is ready before its models where strict readiness is off,
 * and models are ready while what they call is not.
 *
 * `alive` throws once the server has ended. Errors: `target-not-ready`, `model-load-failed`, `repository-empty`, `canary-refused`,
 * what `alive` throws, `interrupted`.
 */
export async function waitUntilAnswers(
  http: string,
  options: { readonly ms: number; readonly signal?: AbortSignal | undefined; readonly alive: () => void; readonly log: () => string },
): Promise<void> {
  const what = `tritonserver at ${http} to become ready`;
  try {
    await pollUntil({ ms: options.ms, what, everyMs: 50, signal: options.signal }, async (signal) => {
      options.alive();
      const status = await askHttp(`http://${http}/v2/health/ready`, 'GET', signal).then(
        (answer) => answer.status,
        () => undefined,
      );
      if (status === 200) return true;
      // It answers and is not ready: a model that failed will not become ready by waiting.
      if (status !== undefined) refuseFailed(await repositoryIndex(http));
      return undefined;
    });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code !== 'deadline') throw error;
    throw new LockstepError('target-not-ready', `waited ${options.ms} ms for ${what}, in vain`, {
      context: { log: options.log() },
      hint: 'Read the last log lines above.',
      cause: error,
    });
  }
  const models = await repositoryIndex(http);
  refuseFailed(models);
  const ready = models.filter(({ state }) => state === 'READY').map(({ name }) => name);
  if (ready.length === 0) {
    throw new LockstepError('repository-empty', 'the server is ready and serves no model', {
      context: { log: options.log() },
      hint: 'Look whether the repository has a folder with config.pbtxt and a version for each model, and whether the server may read it.',
    });
  }
  options.alive();
  await askCanary(http, ready, options);
}

function refuseFailed(models: readonly ModelState[]): void {
  const failed = models.find(
    ({ state, reason }) => state === 'UNAVAILABLE' && reason !== undefined && reason !== '' && reason !== 'unloaded',
  );
  if (failed !== undefined) throw loadFailed(failed.name, failed.reason!);
}

/** One short answer from the model that takes text, or a look at the configuration where none does. */
async function askCanary(
  http: string,
  ready: readonly string[],
  { signal, alive }: { readonly signal?: AbortSignal | undefined; readonly alive: () => void },
): Promise<void> {
  const order = ['ensemble', 'tensorrt_llm_bls'];
  const candidates = ready.toSorted((a, b) => rank(a, order) - rank(b, order));
  for (const model of candidates) {
    const config = await withDeadline({ ms: ASK_WITHIN_MS, what: `the configuration of ${model}`, signal }, async (inner) => {
      const answer = await askHttp(`http://${http}/v2/models/${encodeURIComponent(model)}/config`, 'GET', inner);
      return answer.status === 200 ? (JSON.parse(answer.body) as ModelConfig) : undefined;
    });
    const inputs = new Set(config?.input?.map(({ name }) => name));
    const limit = ['max_tokens', 'sampling_param_max_tokens'].find((name) => inputs.has(name));
    if (!inputs.has('text_input') || limit === undefined) continue;
    const body = JSON.stringify({ text_input: 'Hello', [limit]: 1, ...(inputs.has('stream') ? { stream: false } : {}) });
    const url = `http://${http}/v2/models/${encodeURIComponent(model)}/generate`;
    const answer = await withDeadline({ ms: CANARY_WITHIN_MS, what: `${model} to give its first answer`, signal }, (inner) =>
      askHttp(url, 'POST', inner, body),
    ).catch((thrown: unknown) => {
      alive();
      throw thrown;
    });
    // Releases before 23.10 have no generate endpoint and answer with nothing.
    if (answer.status === 200 || (answer.status === 400 && answer.body === '')) return;
    throw new LockstepError(
      'canary-refused',
      `all models are ready, and ${model} refuses the first request: ${answer.status} ${answer.body}`,
      {
        hint: 'Send it by hand; tokenizer_dir and the engine of the repository are the usual reasons.',
        context: { request: `POST ${url} ${body}` },
      },
    );
  }
}

function rank(model: string, order: readonly string[]): number {
  const at = order.indexOf(model);
  return at < 0 ? order.length : at;
}
