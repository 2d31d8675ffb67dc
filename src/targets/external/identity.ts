/** What a running server says about itself over plain HTTP: metadata, models, configurations. */
import { shortHash } from '#core/hash/index.ts';
import { canonicalJson } from '#core/json/index.ts';

const UNKNOWN = 'unknown';

interface ServerMetadata {
  readonly name?: string;
  readonly version?: string;
  readonly extensions?: readonly string[];
}

/** Asks GET /v2, the repository index and each model's configuration; whatever is not told is the word "unknown". */
export async function readIdentity(http: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const base = `http://${http}/v2`;
  const server = (await ask(base, 'GET', signal)) as ServerMetadata | undefined;
  const index = (await ask(`${base}/repository/index`, 'POST', signal)) as
    | readonly { readonly name: string; readonly state?: string }[]
    | undefined;
  const models = (Array.isArray(index) ? index : [])
    .filter((model) => model.state === 'READY')
    .map((model) => model.name)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const configs = await Promise.all(
    models.map(async (model) => {
      const config = await ask(`${base}/models/${encodeURIComponent(model)}/config`, 'GET', signal);
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

async function ask(url: string, method: 'GET' | 'POST', signal: AbortSignal): Promise<unknown> {
  // Content-Type always: without it tritonserver 2.51 parses a body as a form.
  const request =
    method === 'POST'
      ? { method, body: '{}', headers: { 'content-type': 'application/json', connection: 'close' } }
      : { method, headers: { connection: 'close' } };
  try {
    const response = await fetch(url, { ...request, signal });
    const text = await response.text();
    return response.ok ? JSON.parse(text) : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
