/** Starts the target of a run before the first suite, and stops it after the last, whatever happened between. */
import type { TestProject } from 'vitest/node';
import { goldenStore, recordedIdentity } from '#checks/lab/goldens.ts';
import { PACKAGE_ROOT, runConfigFromEnvironment } from '#core/config/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type Target, startTarget } from '#targets/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { IdentityDifference } from './provided.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const config = await runConfigFromEnvironment(process.env, process.cwd());
  const tokenizer = loadTokenizer(config.tokenizer);
  const store = goldenStore({ goldensDir: config.goldens, tokenizer });
  const target = await startTarget(config);
  try {
    const identityDifferences = differences(recordedIdentity(store), target);
    if (config.strictIdentity && identityDifferences.length > 0) throw strict(identityDifferences);
    project.provide('lockstep', {
      header: {
        target: config.target,
        endpoints: Object.fromEntries(Object.entries(target.endpoints).filter(([, v]) => v !== undefined)) as Record<string, string>,
        identity: target.identity,
        profile: config.profile,
        seed: config.seed,
        faults: config.faults,
        goldens: store.folder.replace(`${PACKAGE_ROOT}/`, ''),
      },
      config,
      endpoints: target.endpoints,
      processes: await target.processes(),
      identityDifferences,
    });
  } catch (thrown) {
    await target.stop();
    throw thrown;
  }
  return () => target.stop();
}

/** What the goldens' latest recording and this target both state, and state differently. */
function differences(recorded: Readonly<Record<string, string>> | undefined, target: Target): IdentityDifference[] {
  return Object.entries(target.identity).flatMap(([key, value]) => {
    const golden = recorded?.[key];
    return golden === undefined || golden === value || value === UNKNOWN ? [] : [{ key, golden, target: value }];
  });
}

function strict(differing: readonly IdentityDifference[]): LockstepError {
  return new LockstepError(
    'identity-differs',
    `the target is not what the goldens were recorded on: ${differing.map((d) => `${d.key} ${d.golden} → ${d.target}`).join('; ')}`,
    {
      hint: 'Run without --strict-identity to compare all the same, or record goldens on this target.',
    },
  );
}
