import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Engine } from './engine.ts';
import { engineError, statusOf, wordsOf } from './engine-error.ts';
import { registryLogin } from './registry-login.ts';

interface Progress {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

const SAY_EVERY_MS = 3_000;
const MIB = 2 ** 20;

/**
 * Pulls an image, and says every few seconds how far it is. Registries that want a login get the one of `docker login`.
 *
 * Errors: `image-pull-failed` with the registry's own words, `interrupted`.
 */
export async function pullImage(
  engine: Engine,
  reference: string,
  { notice, signal }: { readonly notice: (line: string) => void; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  notice(`pulling ${reference}`);
  const authconfig = await registryLogin(reference, process.env);
  try {
    const stream = await engine.docker.pull(reference, { ...(authconfig === undefined ? {} : { authconfig }), abortSignal: signal });
    await follow(stream as AsyncIterable<Buffer>, notice, signal);
  } catch (thrown) {
    if (signal?.aborted) throw new LockstepError('interrupted', `stopped while pulling ${reference}`, { cause: thrown });
    if (statusOf(thrown) === undefined && !(thrown instanceof PullError)) throw engineError(thrown, engine.socket);
    throw new LockstepError('image-pull-failed', `${reference} cannot be pulled: ${wordsOf(thrown)}`, {
      hint: 'Look whether docker pull does it; a private registry needs docker login, and without a network docker load an image from a file.',
      cause: thrown,
    });
  }
  notice(`pulled ${reference}`);
}

class PullError extends Error {}

async function follow(stream: AsyncIterable<Buffer>, notice: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
  const layers = new Map<string, { current: number; total: number; done: boolean }>();
  let saidNs = nowNs();
  let rest = '';
  for await (const chunk of stream) {
    signal?.throwIfAborted();
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const { id, status = '', error, progressDetail = {} } = JSON.parse(line) as Progress;
      if (error !== undefined) throw new PullError(error);
      if (id === undefined) continue;
      const layer = layers.get(id) ?? { current: 0, total: 0, done: false };
      if (status === 'Downloading') Object.assign(layer, { current: progressDetail.current ?? 0, total: progressDetail.total ?? 0 });
      if (status === 'Pull complete' || status === 'Already exists') layer.done = true;
      if (/^(Pulling fs layer|Waiting|Downloading|Download complete|Extracting|Pull complete|Already exists)/.test(status))
        layers.set(id, layer);
    }
    if (nowNs() - saidNs < SAY_EVERY_MS * 1e6) continue;
    saidNs = nowNs();
    const all = [...layers.values()];
    const sum = (of: (layer: (typeof all)[number]) => number) => all.reduce((n, layer) => n + of(layer), 0);
    notice(
      `${all.filter((layer) => layer.done).length} of ${all.length} layers, ${Math.round(sum((l) => l.current) / MIB)} of ${Math.round(sum((l) => l.total) / MIB)} MiB under way`,
    );
  }
}
