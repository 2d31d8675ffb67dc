/** What lies in a folder and runs on this host that a configuration could name. */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grpcClient, HttpChannel } from '#wire/clients/index.ts';

const DEPTH = 3;
/** More folders than this are no place for an engine, but somebody's home. */
const MOST_FOLDERS = 5_000;
const SKIPPED = new Set(['node_modules', '.git', '.cache', '.venv', 'site-packages']);

export interface Found {
  /** With config.json of trtllm-build and rank0.engine. */
  readonly engines: readonly string[];
  /** With tokenizer.json. */
  readonly tokenizers: readonly string[];
  /** With tensorrt_llm/config.pbtxt or ensemble/config.pbtxt. */
  readonly repositories: readonly string[];
}

/** Looks at a folder and what is below it, links not followed, `DEPTH` floors deep. */
export function findFolders(root: string): Found {
  const found = { engines: [] as string[], tokenizers: [] as string[], repositories: [] as string[] };
  let queue = [{ folder: root, depth: 0 }];
  for (let seen = 0; queue.length > 0 && seen < MOST_FOLDERS;) {
    const next: typeof queue = [];
    for (const { folder, depth } of queue) {
      seen++;
      if (existsSync(join(folder, 'rank0.engine')) && isEngineConfig(join(folder, 'config.json'))) found.engines.push(folder);
      if (existsSync(join(folder, 'tokenizer.json'))) found.tokenizers.push(folder);
      if (['tensorrt_llm', 'ensemble'].some((model) => existsSync(join(folder, model, 'config.pbtxt')))) {
        found.repositories.push(folder);
        continue;
      }
      if (depth < DEPTH) for (const name of subfolders(folder)) next.push({ folder: join(folder, name), depth: depth + 1 });
    }
    queue = next;
  }
  return found;
}

function subfolders(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

function isEngineConfig(path: string): boolean {
  try {
    return 'pretrained_config' in (JSON.parse(readFileSync(path, 'utf8')) as object);
  } catch {
    return false;
  }
}

const ASK_WITHIN_MS = 1_000;

/** Where a Triton listens that nobody told otherwise. */
const USUAL = { grpc: '127.0.0.1:8001', http: '127.0.0.1:8000', metrics: '127.0.0.1:8002' };

/** A Triton on this host that answers on both protocols, and its metrics where it has them. */
export async function findRunning(
  signal: AbortSignal,
  at: typeof USUAL = USUAL,
): Promise<{ readonly grpc: string; readonly http: string; readonly metrics?: string } | undefined> {
  const [http, grpc, metrics] = await Promise.all([
    answers(at.http, '/v2/health/live', signal),
    answersGrpc(at.grpc, signal),
    answers(at.metrics, '/metrics', signal),
  ]);
  if (!http || !grpc) return undefined;
  return { grpc: at.grpc, http: at.http, ...(metrics ? { metrics: at.metrics } : {}) };
}

async function answers(address: string, path: string, signal: AbortSignal): Promise<boolean> {
  await using channel = new HttpChannel(address);
  try {
    return (await channel.answer({ method: 'GET', path }, { signal, deadlineMs: ASK_WITHIN_MS })).status === 200;
  } catch {
    return false;
  }
}

async function answersGrpc(address: string, signal: AbortSignal): Promise<boolean> {
  await using client = grpcClient(address);
  try {
    return await client.live({ signal, deadlineMs: ASK_WITHIN_MS });
  } catch {
    return false;
  }
}
