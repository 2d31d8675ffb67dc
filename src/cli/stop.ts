/** `lockstep stop`: ends servers that `lockstep start --detach` left, and what killed runs left. */
import { LockstepError } from '#core/errors/index.ts';
import { type OwnContainer, connectEngine, listServers, stopServer } from '#targets/docker/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function stop({ flags, env, signal, terminal }: CommandContext): Promise<number> {
  const engine = await connectEngine(env, signal);
  const servers = (await listServers(engine)).filter(({ owner }) => owner !== 'living');
  const chosen = choose(servers, flags.positionals);
  await Promise.all(chosen.map(({ id }) => stopServer(engine, id)));
  for (const { name } of chosen) terminal.out(`stopped ${name}`);
  return EXIT.held;
}

/** By name or the beginning of an id; alone, the one that there is. Servers of a living run are that run's to stop. */
function choose(all: readonly OwnContainer[], names: readonly string[]): readonly OwnContainer[] {
  // Whether a run of another host goes on cannot be seen from here: its servers are stopped by name alone.
  const servers = names.length > 0 && names[0] !== 'all' ? all : all.filter(({ owner }) => owner !== 'of another host');
  if (names.length === 1 && names[0] === 'all') return servers;
  if (names.length === 0) {
    if (servers.length === 1) return servers;
    throw new LockstepError('server-unknown', servers.length === 0 ? 'there is no server to stop' : `there are ${servers.length} servers`, {
      hint:
        servers.length === 0
          ? '`lockstep ps` lists them.'
          : `Write lockstep stop all, or one of: ${servers.map(({ name }) => name).join(', ')}.`,
    });
  }
  return names.map((name) => {
    const found = servers.find((server) => server.name === name || (name.length >= 6 && server.id.startsWith(name)));
    if (found !== undefined) return found;
    throw new LockstepError('server-unknown', `there is no server ${name} to stop`, {
      hint: '`lockstep ps` lists them; those of a run that goes on are stopped by that run.',
    });
  });
}
