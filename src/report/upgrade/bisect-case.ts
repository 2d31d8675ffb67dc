import { join } from 'node:path';
import { type Exchange, type Observation, observeContract } from '#checks/contract/index.ts';
import { PACKAGE_ROOT, type RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { startTarget } from '#targets/index.ts';
import type { Candidate } from './first-bad.ts';
import { runSuite } from './run-suite.ts';

/** A case that tells good targets from bad ones. */
export interface BisectCase {
  open(config: RunConfig): Promise<Candidate>;
  /** What the last bad target did, for the reader. */
  shown(): string;
}

const CONTRACT = 'contract/';

/**
 * `contract/PROBE`: an exchange of the contract whose facts are not those of `good`; `contract/PROBE=STATUS`: whose status is not that.
 * Anything else: claims, by parts of their keys, of which one fails.
 *
 * Errors: `case-unknown`; those of starting a target and of running the suite.
 */
export async function bisectCase(words: readonly string[], good: RunConfig, signal?: AbortSignal): Promise<BisectCase> {
  const [first = ''] = words;
  if (!first.startsWith(CONTRACT)) return claimsCase(words, signal);
  const [probe = '', status] = first.slice(CONTRACT.length).split('=');
  if (status !== undefined) return contractCase(probe, ({ facts }) => facts['status'] === status, signal);
  await using asked = await openContract(probe, good, signal);
  const reference = canonicalJson((await asked.observe()).facts);
  return contractCase(probe, ({ facts }) => canonicalJson(facts) === reference, signal);
}

function contractCase(probe: string, isGood: (one: Observation) => boolean, signal: AbortSignal | undefined): BisectCase {
  let last: Exchange | undefined;
  return {
    open: async (config) => {
      const asked = await openContract(probe, config, signal);
      return {
        trial: async () => {
          const one = await asked.observe();
          if (isGood(one)) return false;
          last = one.exchange;
          return true;
        },
        [Symbol.asyncDispose]: () => asked[Symbol.asyncDispose](),
      };
    },
    shown: () => (last === undefined ? '' : `${last.request}\n\n${last.reply}`),
  };
}

async function openContract(probe: string, config: RunConfig, signal: AbortSignal | undefined) {
  const repository = probe.startsWith('edge_') ? { repository: join(PACKAGE_ROOT, 'docker/contract/models') } : {};
  const target = await startTarget({ ...config, ...repository }, { signal });
  return {
    observe: async (): Promise<Observation> => {
      const { observations, skipped } = await observeContract({
        endpoints: target.endpoints,
        owned: config.target !== 'external',
        sharedMemory: config.target === 'process',
        health: () => target.health(),
        only: ({ id }) => id === probe,
        signal,
      });
      const [one] = observations;
      if (one !== undefined) return one;
      throw new LockstepError('case-unknown', `there is no exchange ${probe} to ask: ${skipped[0]?.why ?? 'no probe has that id'}`, {
        hint: 'The table of `lockstep upgrade --markdown` names them, below each difference.',
      });
    },
    [Symbol.asyncDispose]: () => target.stop(),
  };
}

function claimsCase(words: readonly string[], signal: AbortSignal | undefined): BisectCase {
  let last = '';
  return {
    open: async (config) => ({
      trial: async () => {
        const { claims, counts } = await runSuite(config, words, signal);
        if (counts.held + counts.failed === 0) {
          throw new LockstepError('case-unknown', `no claim that this target serves matches ${words.join(' or ')}`, {
            hint: 'A filter is a part of a claim, such as agreement/ensemble; `lockstep check` lists all of them as it runs.',
          });
        }
        const failed = claims.filter(({ status }) => status === 'failed');
        for (const { suite, id, failures } of failed) last = `${suite}/${id}: ${failures[0]?.text ?? ''}\n${failures[0]?.replay ?? ''}`;
        return failed.length > 0;
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
    shown: () => last,
  };
}
