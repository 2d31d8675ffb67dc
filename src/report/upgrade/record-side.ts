import { join } from 'node:path';
import { forceAnswers, recordAnswers } from '#checks/answers/index.ts';
import { type ContractRecord, observeContract } from '#checks/contract/index.ts';
import { makeLab } from '#checks/lab/make-lab.ts';
import { wallClock } from '#core/clock/index.ts';
import { PACKAGE_ROOT, type RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { followCore } from '#core/profile/index.ts';
import { identityAsLoaded, startTarget } from '#targets/index.ts';
import { runSuite } from './run-suite.ts';
import { type Part, PARTS, type Side } from './side.ts';

/** Models that show what no language model shows (docker/contract/README.md). */
const EDGE_MODELS = join(PACKAGE_ROOT, 'docker/contract/models');

export interface RecordSideOptions {
  readonly name: string;
  readonly config: RunConfig;
  readonly parts?: readonly Part[];
  /** The other side, recorded before: this one is led along its answers. */
  readonly old?: Side | undefined;
  /** Parts of claims' keys; none: every claim. */
  readonly claims?: readonly string[];
  readonly notice?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Records one side of an upgrade: answers, then the contract, on a server that is started for it and stopped again; the contract of the edges on a
 * second one with models for that, where this project starts the servers; last the suite, which starts its own. One server at a
 * time, so that a GPU that holds one is enough.
 *
 * Errors: those of starting the target; a part that cannot be recorded is named in `missing`, and the others go on.
 */
export async function recordSide(options: RecordSideOptions): Promise<Side> {
  const { name, config, parts = PARTS, old, claims = [], notice = () => undefined, signal } = options;
  const missing: { part: Part; why: string }[] = PARTS.filter((part) => !parts.includes(part)).map((part) => ({
    part,
    why: 'it was not asked for',
  }));
  const recordedAt = wallClock();
  const attempt = async <T>(part: Part, work: () => Promise<T>): Promise<T | undefined> => {
    if (!parts.includes(part)) return undefined;
    try {
      return await work();
    } catch (thrown) {
      signal?.throwIfAborted();
      const why = LockstepError.from(thrown).message;
      missing.push({ part, why });
      notice(`${name}: ${part} not recorded: ${why}`);
      return undefined;
    }
  };
  let side: Side;
  {
    notice(`${name}: starting`);
    await using target = await startTarget(config, { signal });
    const reported = config.target === 'embedded' ? undefined : target.identity['triton'];
    const followed = { ...config, profile: followCore(config.profile, reported).profile };
    const identity = await identityAsLoaded(target, signal);
    const answered = await attempt('answers', async () => {
      notice(`${name}: answers`);
      await using made = await makeLab({ config: followed, endpoints: target.endpoints, identity, health: () => target.health() });
      made.lab.signal = signal;
      const answers = await recordAnswers(made.lab);
      const forced = old?.answers === undefined ? undefined : await forceAnswers(made.lab, old.answers, answers);
      return { answers, forced };
    });
    const contract = await attempt('contract', async () => {
      notice(`${name}: contract`);
      const owned = config.target !== 'external' && config.target !== 'openai';
      return observeContract({
        endpoints: target.endpoints,
        owned,
        sharedMemory: config.target === 'process',
        health: () => target.health(),
        signal,
      });
    });
    side = { name, recordedAt, identity, contract, ...answered, missing };
  }
  const edges = startsAnything(config) ? await attempt('contract', () => recordEdges(config, { name, notice, signal })) : undefined;
  const run = await attempt('run', async () => {
    notice(`${name}: suite`);
    return runSuite(config, claims, signal);
  });
  return { ...side, contract: side.contract === undefined ? undefined : joined(side.contract, edges), run, missing };
}

/** The contract of the edges alone: no checkpoint, no GPU memory. */
async function recordEdges(
  config: RunConfig,
  { name, notice, signal }: { readonly name: string; readonly notice: (line: string) => void; readonly signal?: AbortSignal | undefined },
): Promise<ContractRecord> {
  notice(`${name}: edges`);
  await using target = await startTarget({ ...config, repository: EDGE_MODELS, worldSize: 1 }, { signal });
  // Not before it is done: the server ends with this function.
  return await observeContract({
    endpoints: target.endpoints,
    owned: true,
    sharedMemory: config.target === 'process',
    health: () => target.health(),
    signal,
  });
}

const startsAnything = ({ target }: RunConfig): boolean => target === 'process' || target === 'docker';

/** What was asked of both servers is the same server's: the second has only more models. */
function joined(stock: ContractRecord, edges: ContractRecord | undefined): ContractRecord {
  if (edges === undefined) return stock;
  const own = new Set(stock.observations.map(({ id }) => id));
  const observations = [...stock.observations, ...edges.observations.filter(({ id }) => !own.has(id))];
  const seen = new Set(observations.map(({ id }) => id));
  const skipped = [...stock.skipped, ...edges.skipped].filter(({ id }) => !seen.has(id));
  return { observations, skipped: [...new Map(skipped.map((one) => [one.id, one])).values()] };
}
