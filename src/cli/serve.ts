/** `lockstep serve`: the embedded Triton in the foreground. */
import { resolve } from 'node:path';
import { TINY_CHECKPOINT, resolveSettings } from '#core/config/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { profileOf } from '#core/profile/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { startEmbeddedTarget } from '#targets/embedded/index.ts';
import { modelRepository } from '#targets/model-repository.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { formatFaults, listFaults, refuseFaults } from './faults.ts';

const LOOK_EVERY_MS = 500;

export async function serve({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'serve', flags: flags.layer, env, cwd, signal });
  if (settings.listFaults) {
    terminal.out(formatFaults(await listFaults()));
    return EXIT.held;
  }
  const checkpoint = resolve(cwd, settings.checkpoint ?? TINY_CHECKPOINT);
  await refuseFaults(settings.fault, settings.profile, checkpoint);
  await using target = await startEmbeddedTarget({
    server: {
      ...EMBEDDED_DEFAULTS,
      host: settings.host,
      grpcPort: settings.grpcPort,
      httpPort: settings.httpPort,
      metricsPort: settings.metricsPort,
      openaiPort: settings.openaiPort,
      profile: settings.profile,
      faults: settings.fault,
      engine: settings.engine,
      reduction: settings.reduction,
      checkpoint,
      repository: modelRepository(checkpoint, profileOf(settings.profile).core),
    },
    signal,
  });
  const { grpc, http, metrics, openai } = target.endpoints;
  terminal.out(`gRPC     ${grpc}`);
  terminal.out(`HTTP     http://${http}/v2`);
  if (metrics !== undefined) terminal.out(`metrics  http://${metrics}/metrics`);
  if (openai !== undefined) terminal.out(`OpenAI   ${openai}/v1`);
  if (settings.fault.length > 0) terminal.out(`faults   ${settings.fault.join(', ')}`);
  terminal.out('ready; Ctrl-C stops it');
  while (!signal.aborted) {
    const health = await target.health();
    if (!health.alive) throw new LockstepError('target-exited', health.detail);
    await sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
  }
  // Stopping a server with Ctrl-C is how it is meant to end.
  return EXIT.held;
}
