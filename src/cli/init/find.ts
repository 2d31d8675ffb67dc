/** What lies in a folder and runs on this host that a configuration could name. */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HttpChannel } from '#wire/clients/index.ts';

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

/** Whether a Triton answers at its usual ports on this host. */
export async function findRunning(
  signal: AbortSignal,
): Promise<{ readonly grpc: string; readonly http: string; readonly metrics?: string } | undefined> {
  const answers = async (address: string, path: string) => {
    await using channel = new HttpChannel(address);
    return channel.answer({ method: 'GET', path }, { signal, deadlineMs: ASK_WITHIN_MS }).then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  if (!(await answers('127.0.0.1:8000', '/v2/health/live'))) return undefined;
  const metrics = await answers('127.0.0.1:8002', '/metrics');
  return { grpc: '127.0.0.1:8001', http: '127.0.0.1:8000', ...(metrics ? { metrics: '127.0.0.1:8002' } : {}) };
}
