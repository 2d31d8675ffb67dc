/** Failing cases of faulty servers, made small, bundled, and reproduced by the scripts of their bundles. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claim } from '#report/claim.ts';
import { toClaimOutcome } from '#report/define-claims.ts';
import { faultOf } from './failing-cases.ts';
import { reproduces } from './reproduces.ts';

/** One claim per fault. */
export function reproduceAll(faults: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-shrink-'));
  for (const id of faults) {
    const fault = faultOf(id);
    claim(
      {
        id: `reproduces-${id}`,
        suite: 'shrink',
        statement: `The scripts of a bundle reproduce it, and nothing on a server without it: ${fault.mechanism}`,
        routes: [],
        laws: [fault.caughtBy[0]],
        timeoutMs: 120_000,
      },
      async ({ signal }) => toClaimOutcome(await reproduces(fault, folder, signal)),
    );
  }
}
