/** What a running server says about itself over plain HTTP: metadata, models, configurations. */
import { shortHash } from '#core/hash/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { HttpChannel } from '#wire/clients/index.ts';
import type { Endpoints } from '../types.ts';

const UNKNOWN = 'unknown';
const ASK_WITHIN_MS = 5_000;

interface ServerMetadata {
  readonly name?: string;
  readonly version?: string;
  readonly extensions?: readonly string[];
}

/** Asks GET /v2, the repository index and each model's configuration; whatever is not told is the word "unknown". */
export async function readIdentity(endpoints: Endpoints, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  await using channel = new HttpChannel(endpoints.http, endpoints.access);
  const ask = (path: string, method: 'GET' | 'POST' = 'GET') => askJson(channel, path, method, signal);
  const server = (await ask('/v2')) as ServerMetadata | undefined;
  const index = (await ask('/v2/repository/index', 'POST')) as readonly { readonly name: string; readonly state?: string }[] | undefined;
  const models = (Array.isArray(index) ? index : [])
    .filter((model) => model.state === 'READY')
    .map((model) => model.name)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const configs = await Promise.all(
    models.map(async (model) => {
      const config = await ask(`/v2/models/${encodeURIComponent(model)}/config`);
      return [`config of ${model}`, config === undefined ? UNKNOWN : shortHash(canonicalJson(config))] as const;
    }),
  );
  return {
    name: server?.name ?? UNKNOWN,
    triton: server?.version ?? UNKNOWN,
    served: models.length > 0 ? models.join(' ') : UNKNOWN,
    ...Object.fromEntries(configs),
    // Nothing in the protocol tells these; a target that this project starts knows them.
    image: UNKNOWN,
    gpu: UNKNOWN,
    engine: UNKNOWN,
  };
}

async function askJson(channel: HttpChannel, path: string, method: 'GET' | 'POST', signal: AbortSignal): Promise<unknown> {
  // Content-Type always: without it tritonserver 2.51 parses a body as a form.
  const post = { body: '{}', headers: { 'content-type': 'application/json' } };
  try {
    return await channel.json({ method, path, ...(method === 'POST' ? post : {}) }, { signal, deadlineMs: ASK_WITHIN_MS });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
