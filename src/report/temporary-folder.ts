/** Every folder that a test makes for a while lies in one of the run's own, which goes with the run, even one that is killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_VARIABLE } from '#core/config/index.ts';
import { registerForCleanup } from '#targets/watchdog/index.ts';

/** Before any worker starts: they, and what they start, inherit the variable. `lockstep check` makes no such folders. */
export default function setup(): (() => void) | undefined {
  if (process.env[RUN_VARIABLE] !== undefined) return undefined;
  const before = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-tests-'));
  const registration = registerForCleanup({ dirs: [folder] });
  process.env['TMPDIR'] = folder;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    registration.release();
  };
}
