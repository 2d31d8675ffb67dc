/** `lockstep replay serve`: a server that says what was recorded, until Ctrl-C. */
import { type Played, startReplayServer } from '#checks/recording/replay/index.ts';
import { resolveSettings } from '#core/config/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printable } from './printable.ts';
import { namedFixtures } from './fixtures.ts';
import { speedOf } from './speed.ts';

export async function serve({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'replay', flags: flags.layer, env, cwd, signal });
  const named = await namedFixtures(flags.positionals, cwd, 'serve');
  const fixtures = named.filter(({ fixture, shown }) => {
    const readable = fixture.header.protocol !== 'unknown';
    if (!readable && named.length > 1) terminal.error(`left out: ${printable(shown)}, of which nothing could be read`);
    return readable || named.length === 1;
  });
  await using server = await startReplayServer({
    fixtures,
    host: settings.host,
    ports: { grpc: settings.grpcPort, http: settings.httpPort, openai: settings.openaiPort },
    speed: speedOf(settings.speed),
    onPlayed: (played) => terminal.out(printable(line(played))),
  });
  if (server.grpc !== undefined) terminal.out(`gRPC     ${server.grpc}`);
  if (server.http !== undefined) terminal.out(`HTTP     http://${server.http}/v2`);
  if (server.openai !== undefined) terminal.out(`OpenAI   ${server.openai}/v1`);
  terminal.out(`ready with ${fixtures.length} recorded ${fixtures.length === 1 ? 'exchange' : 'exchanges'}; Ctrl-C stops it`);
  if (!signal.aborted) await new Promise((stop) => signal.addEventListener('abort', stop, { once: true }));
  return EXIT.held;
}

function line(played: Played): string {
  switch (played.kind) {
    case 'whole':
      return `✓ ${played.name}`;
    case 'left':
      return `✗ ${played.name}: the client left after ${played.sent} of ${played.of} messages`;
    case 'stayed':
      return `✗ ${played.name}: the client that was recorded left here, and this one did not`;
    case 'missing':
      return `? ${played.text}`;
  }
}
