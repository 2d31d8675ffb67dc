import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '#core/config/index.ts';

/** A test that makes a folder and says where, and then waits or ends. */
const RUN = (how: string) => `
  import setup from '${join(import.meta.dirname, 'temporary-folder.ts')}';
  import { mkdtempSync, writeSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  const end = setup();
  writeSync(1, mkdtempSync(join(tmpdir(), 'lockstep-example-')));
  ${how}`;

async function folderOf(how: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', RUN(how)], {
    cwd: PACKAGE_ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, exit, folder: text.toString('utf8') };
}

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('folders that tests make', { timeout: 20_000 }, () => {
  test('go with the run that ends', async () => {
    const { exit, folder } = await folderOf('end();');
    expect(dirname(dirname(folder))).toBe(tmpdir());
    expect(await exit).toEqual([0, null]);
    expect(existsSync(dirname(folder))).toBe(false);
  });

  test('go within 5 s after SIGKILL of the run', async () => {
    const { child, exit, folder } = await folderOf('setInterval(() => {}, 1000);');
    expect(existsSync(folder)).toBe(true);
    child.kill('SIGKILL');
    await exit;
    await expect.poll(() => existsSync(dirname(folder)), { timeout: 5_000, interval: 50 }).toBe(false);
  });
});
