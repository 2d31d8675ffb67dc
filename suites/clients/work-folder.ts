import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what a client reads and writes, gone afterwards. */
export function workFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'lockstep-client-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
