import { makeLab } from '#checks/lab/make-lab.ts';
import type { Lab } from '#checks/lab/lab.ts';
import type { Bench } from '#checks/shrink/index.ts';
import type { RunConfig } from '#core/config/index.ts';
import { followCore } from '#core/profile/index.ts';
import { identityAsLoaded, startTarget } from '#targets/index.ts';
import type { Target } from '#targets/types.ts';

export interface TargetBench extends Bench, AsyncDisposable {
  /** The target that runs now. */
  readonly target: Target;
}

/** A target on which cases are tried; one that is started here is started anew where a case needs it. Errors: as `startTarget`. */
export async function startBench(config: RunConfig, signal: AbortSignal): Promise<TargetBench> {
  const open = async () => {
    const target = await startTarget(config, { signal });
    try {
      const reported = config.target === 'embedded' ? undefined : target.identity['triton'];
      const made = await makeLab({
        config: { ...config, profile: config.target === 'openai' ? config.profile : followCore(config.profile, reported).profile },
        endpoints: target.endpoints,
        identity: await identityAsLoaded(target, signal),
        health: () => target.health(),
      });
      return { target, made };
    } catch (thrown) {
      await target.stop().catch(() => undefined);
      throw thrown;
    }
  };
  let now = await open();
  const close = async () => {
    await now.made[Symbol.asyncDispose]();
    await now.target.stop();
  };
  const started = config.target !== 'external' && config.target !== 'openai';
  const renew = async (): Promise<Lab> => {
    await close();
    now = await open();
    return now.made.lab;
  };
  return {
    get target() {
      return now.target;
    },
    lab: now.made.lab,
    renew: started ? renew : undefined,
    [Symbol.asyncDispose]: close,
  };
}
