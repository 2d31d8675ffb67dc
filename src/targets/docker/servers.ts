import type { Engine } from './engine.ts';
import { engineError, statusOf } from './engine-error.ts';
import { ownerState } from '../host/index.ts';
import { OWNER_LABEL } from './labels.ts';
import { listOwn, removeContainer } from './remove.ts';

/** A server that this project started on the engine, by this run or another. */
export interface OwnContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** As the engine says it: running, exited, … */
  readonly state: string;
  /** As `Up 3 minutes`. */
  readonly status: string;
  readonly owner: ReturnType<typeof ownerState>;
  /** Port in the container → address on this host. */
  readonly ports: ReadonlyMap<number, string>;
}

/** A graceful end lets requests in flight finish; a gRPC stream that is left open would hold it for ever. */
const GRACE_S = 10;

/** Errors: those of `engineError`. */
export async function listServers(engine: Engine): Promise<readonly OwnContainer[]> {
  return (await listOwn(engine)).map(({ Id, Names, Image, State, Status, Labels, Ports, Command, HostConfig }) => ({
    id: Id,
    name: (Names[0] ?? Id.slice(0, 12)).replace(/^\//, ''),
    image: Image,
    state: State,
    status: Status,
    owner: ownerState(Labels[OWNER_LABEL] ?? ''),
    ports:
      HostConfig.NetworkMode === 'host'
        ? portsOfCommand(Command)
        : new Map(
            Ports.filter(({ PublicPort }) => PublicPort !== undefined).map((port) => [port.PrivatePort, `${port.IP}:${port.PublicPort}`]),
          ),
  }));
}

/** On the network of the host nothing is published: the server was told its ports. By the port that each has in a container. */
export function portsOfCommand(command: string): ReadonlyMap<number, string> {
  const usual = { http: 8000, grpc: 8001, metrics: 8002, openai: 9000 } as const;
  const told = command.matchAll(/ --(?:kserve-)?(http|grpc|metrics|openai)-port=(\d+)/g);
  return new Map(Array.from(told, ([, kind, port]) => [usual[kind as keyof typeof usual], `127.0.0.1:${port}`]));
}

/** Lets requests in flight end, then removes it. Errors: those of `engineError`. */
export async function stopServer(engine: Engine, id: string): Promise<void> {
  await engine.docker
    .getContainer(id)
    .stop({ t: GRACE_S })
    .catch((thrown: unknown) => {
      // Stopped already, or gone.
      if (![304, 404].includes(statusOf(thrown) ?? 0)) throw engineError(thrown, engine.socket);
    });
  await removeContainer(engine, id);
}
