/** Starts the target of a run before the first suite, and stops it after the last, whatever happened between. */
import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { goldenStore, recordedIdentities } from '#checks/lab/goldens.ts';
import { promptsOf } from '#checks/lab/prompts-of.ts';
import { PACKAGE_ROOT, RUN_VARIABLE, runConfigFromEnvironment } from '#core/config/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import { assertReplicasAlike } from '#checks/replicas/index.ts';
import { followCore, followFrontEnd } from '#core/profile/index.ts';
import { connectReplicas, identityAsLoaded, startTarget } from '#targets/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { Endpoints } from '#targets/types.ts';
import type { Alike } from '#checks/replicas/index.ts';
import { identityDifferences, refuseOtherIdentity } from './identity-differences.ts';

/** From the working directory. */
const FIXTURES = '.lockstep/fixtures';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    return await startRun(project);
  } catch (thrown) {
    // `lockstep check` has its own last catch.
    throw thrown instanceof LockstepError && process.env[RUN_VARIABLE] === undefined ? withoutStack(thrown) : thrown;
  }
}

async function startRun(project: TestProject): Promise<() => Promise<void>> {
  const interrupt = new AbortController();
  project.vitest.onCancel(() => interrupt.abort(new LockstepError('interrupted', 'stopped by the user')));
  const asked = await runConfigFromEnvironment(process.env, process.cwd());
  const tokenizer = loadTokenizer(asked.tokenizer);
  // Every claim would break off by what is wrong with them.
  promptsOf(asked, tokenizer);
  const store = goldenStore({ goldensDir: asked.goldens, tokenizer });
  const recordings = recordedIdentities(store);
  const target = await startTarget(asked, { signal: interrupt.signal });
  try {
    const reported = asked.target === 'embedded' ? undefined : target.identity['triton'];
    const { profile, note } =
      asked.target === 'openai' ? followFrontEnd(asked.profile, target.identity['tensorrt-llm']) : followCore(asked.profile, reported);
    const config = { ...asked, profile };
    const others = await connectReplicas(config, { signal: interrupt.signal });
    const alike = await assertReplicasAlike(config, [target, ...others], interrupt.signal);
    const identity = await identityAsLoaded(target, interrupt.signal);
    if (config.strictIdentity) refuseOtherIdentity(recordings, identity);
    project.provide('lockstep', {
      header: {
        target: config.target,
        endpoints: shownEndpoints(target.endpoints, alike),
        identity,
        profile: note === undefined ? profile : `${profile} (${note})`,
        seed: config.seed,
        faults: config.faults,
        goldens: store.folder.replace(`${PACKAGE_ROOT}/`, ''),
      },
      config,
      endpoints: target.endpoints,
      processes: await target.processes(),
      fixtures: resolve(FIXTURES),
      identityDifferences: identityDifferences(recordings, identity),
    });
  } catch (thrown) {
    // Why the run cannot be is what the reader needs, whatever the stop says.
    await target.stop().catch(() => undefined);
    throw thrown;
  }
  return () => target.stop();
}

/** Where the claims ask; how one gets in is nobody's business. */
function shownEndpoints(endpoints: Endpoints, alike: Alike | undefined): Record<string, string> {
  const { access: _secret, ...addresses } = endpoints;
  const given = Object.entries(addresses).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  const replicas = alike === undefined ? [] : [['replicas', `${alike.addresses.slice(1).join(', ')}, alike in ${alike.answers} answers`]];
  return Object.fromEntries([...given, ...replicas]) as Record<string, string>;
}

/** What vitest itself prints of an error is its stack; it would also end with code 1, which means a failed claim. */
function withoutStack(error: LockstepError): Error {
  process.once('exit', () => void (process.exitCode = 2));
  const plain = new Error(formatError(error));
  plain.stack = plain.message;
  return plain;
}
