/** `lockstep start`: a tritonserver in a container, in the foreground or left behind. */
import { resolve } from 'node:path';
import { TINY_CHECKPOINT, resolveSettings, toDockerConfig } from '#core/config/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { startContainer } from '#targets/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

const LOOK_EVERY_MS = 500;

export async function start({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'start', flags: flags.layer, env, cwd, signal });
  const docker = toDockerConfig(settings, cwd);
  const checkpoint = resolve(cwd, settings.checkpoint ?? TINY_CHECKPOINT);
  const tokenizer = docker.tokenizer ?? checkpoint;
  const repository = settings.repository === undefined ? undefined : resolve(cwd, settings.repository);
  const server = await startContainer(
    { docker, checkpoint, repository, tokenizer, triton: settings.triton },
    {
      ports: { http: settings.httpPort, grpc: settings.grpcPort, metrics: settings.metricsPort, openai: settings.openaiPort },
      detach: settings.detach,
      notice: (line) => terminal.error(`docker: ${line}`),
      signal,
    },
  );
  const { grpc, http, metrics, openai } = server.endpoints;
  terminal.out(`name     ${server.name}`);
  terminal.out(`gRPC     ${grpc}`);
  terminal.out(`HTTP     http://${http}/v2`);
  if (metrics !== undefined) terminal.out(`metrics  http://${metrics}/metrics`);
  if (openai !== undefined) terminal.out(`OpenAI   ${openai}/v1`);
  const flagsOfIt = Object.entries({ grpc, http, metrics, openai }).filter(([, value]) => value !== undefined);
  const check = [
    'npx lockstep check --target external',
    ...flagsOfIt.map(([flag, value]) => `--${flag} ${value}`),
    `--tokenizer ${tokenizer}`,
  ];
  if (settings.detach) {
    await server.detach();
    terminal.out(`ready; it runs on: ${check.join(' ')}; lockstep stop ${server.name} ends it`);
    return EXIT.held;
  }
  terminal.out('ready; Ctrl-C stops it');
  await using running = server;
  while (!signal.aborted) {
    const health = await running.health();
    if (!health.alive) throw new LockstepError('target-exited', health.detail, { hint: 'Read the last log lines above.' });
    await sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
  }
  return EXIT.held;
}
