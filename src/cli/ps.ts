/** `lockstep ps`: the containers that this project started, on the engine of this host. */
import { type OwnContainer, connectEngine, listServers } from '#targets/docker/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

/** Ports of the container, as they are called. */
const PORTS: readonly (readonly [string, number])[] = [
  ['http', 8000],
  ['grpc', 8001],
  ['metrics', 8002],
  ['openai', 9000],
];

export async function ps({ env, signal, terminal }: CommandContext): Promise<number> {
  const servers = await listServers(await connectEngine(env, signal));
  if (servers.length === 0) terminal.out('no server of lockstep runs on this engine');
  for (const server of servers) terminal.out(line(server));
  return EXIT.held;
}

function line({ name, status, owner, image, ports }: OwnContainer): string {
  const owners = { detached: 'detached', living: 'of a run', dead: 'left by a killed run', 'of another host': 'of another host' };
  const open = PORTS.flatMap(([word, inner]) => (ports.has(inner) ? [`${word} ${ports.get(inner)}`] : []));
  return [name, status, owners[owner], open.join(' · ') || 'no published port', image].join('  ');
}
