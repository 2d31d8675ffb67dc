import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { LockstepError } from '#core/errors/index.ts';

/** As Debian, Ubuntu and Fedora call it; the first needs no display and least of all. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser'];

/** A real browser, without its sandbox, which does not start as root; it opens files of this project only. Errors: `chromium-missing`. */
export async function openChromium(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const program = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
  if (program === undefined) {
    throw new LockstepError('chromium-missing', 'no Chromium on this machine', {
      hint: 'On Debian: apt-get install -y --no-install-recommends chromium-headless-shell',
    });
  }
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
}
