/** A config file is a program: it runs in a thread of its own, which can be ended and whose end is not that of the command. */
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { withDeadline } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';

/** What the thread tells (config-thread.ts). */
export type Loaded =
  | { readonly kind: 'settings'; readonly entries: readonly (readonly [field: string, value: unknown])[] }
  /** It exports something else. */
  | { readonly kind: 'no-object' }
  /** A field holds what is no data: a function, say. */
  | { readonly kind: 'no-data'; readonly field: string; readonly type: string }
  /** `place` as `/path/file.ts:3`, where the error has one. */
  | { readonly kind: 'thrown'; readonly message: string; readonly place: string | undefined }
  /** It awaits what cannot come any more. */
  | { readonly kind: 'waits' };

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly withinMs?: number | undefined;
}

/** A configuration is plain data; one that takes longer than this waits for something that never comes, or never ends. */
const LOAD_WITHIN_MS = 10_000;

/** More than any configuration needs, and less than what would bring the host to its knees. */
const MOST_MEMORY_MB = 1024;

/** The fields of a file's default export. Errors: `config-file-unreadable`, `value-invalid`, `interrupted`. */
export async function loadConfigFile(
  path: string,
  { signal, withinMs = LOAD_WITHIN_MS }: LoadOptions = {},
): Promise<readonly (readonly [field: string, value: unknown])[]> {
  const file = basename(path);
  const thread = new Worker(new URL('./config-thread.ts', import.meta.url), {
    workerData: path,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  });
  try {
    const loaded = await withDeadline({ ms: withinMs, what: `${file} to be loaded`, signal }, () => outcomeOf(thread, file));
    return entriesOf(loaded, file);
  } catch (thrown) {
    if (!(thrown instanceof LockstepError) || thrown.code === 'interrupted' || thrown.code === 'value-invalid') throw thrown;
    const late = thrown.code === 'deadline';
    throw new LockstepError('config-file-unreadable', `${file} cannot be loaded: ${thrown.message.replace(/^\[[^\]]*\] /, '')}`, {
      context: { file: path, ...thrown.context },
      hint: late ? 'A config file is data: take out of it what waits or loops.' : (thrown.hint ?? SYNTAX),
      cause: thrown,
    });
  } finally {
    // Not waited for: a program that the file started and waits for holds the thread until it has ended.
    void thread.terminate();
    thread.unref();
  }
}

const SYNTAX = 'Only syntax that can be erased works there: no enums, no parameter properties; imports end in .ts.';
const DATA = 'Write: export default defineConfig({ … }), with values that are data.';

async function outcomeOf(thread: Worker, file: string): Promise<Loaded> {
  const { promise, resolve, reject } = Promise.withResolvers<Loaded>();
  thread.once('message', resolve);
  thread.once('error', (thrown: unknown) => {
    reject(new LockstepError('config-file-unreadable', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown }));
  });
  thread.once('exit', (code) => {
    const hint = 'Take the call of process.exit out of it, or of what it imports.';
    reject(new LockstepError('config-file-unreadable', `${file} ends its process by itself, with code ${code}`, { hint }));
  });
  return promise;
}

function entriesOf(loaded: Loaded, file: string): readonly (readonly [field: string, value: unknown])[] {
  switch (loaded.kind) {
    case 'settings':
      return loaded.entries;
    case 'no-object':
      throw new LockstepError('config-file-unreadable', `${file} must export its settings as default, as one object`, { hint: DATA });
    case 'no-data':
      throw new LockstepError('value-invalid', `${loaded.field} in ${file} must be data; got a ${loaded.type}`, { hint: DATA });
    case 'waits':
      throw new LockstepError('config-file-unreadable', 'it awaits what never comes', {
        hint: 'A config file is data: take out of it what waits.',
      });
    case 'thrown':
      throw new LockstepError('config-file-unreadable', loaded.message, { context: { place: loaded.place } });
  }
}
