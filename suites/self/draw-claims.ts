/**
 * Prints the keys of a part of the claims, for a run that is to be short: some of every suite, drawn by the seed
 * (LOCKSTEP_SEED). Usage: `node suites/self/draw-claims.ts 0.25`.
 */
import { resolveSettings } from '#core/config/index.ts';
import { LockstepError, formatError } from '#core/errors/index.ts';
import { drawnClaims } from './drawn-claims.ts';
import { ORDINARY_CLAIMS } from './run-suite.ts';

async function main(): Promise<void> {
  const part = Number(process.argv[2]);
  if (!(part > 0 && part <= 1)) {
    throw new LockstepError('value-invalid', `a part of the claims is a number such as 0.25; got “${process.argv[2] ?? ''}”`, {
      hint: 'Give it as the only argument.',
    });
  }
  const { seed } = await resolveSettings({ command: 'check', env: process.env, cwd: process.cwd() });
  const drawn = drawnClaims(ORDINARY_CLAIMS, { seed, part, label: '' });
  process.stdout.write(`${drawn.join(' ')}\n`);
}

await main().catch((thrown: unknown) => {
  process.stderr.write(`${formatError(LockstepError.from(thrown))}\n`);
  process.exitCode = 2;
});
