/** How both servers of a replay open their port and leave it. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Http2Server } from 'node:http2';
import { listenFailed } from '#core/errors/listen-failed.ts';

export interface ReplayListener extends AsyncDisposable {
  readonly port: number;
}

/** Disposal ends connections that are still open. Errors: `listen-failed`. */
export async function listen(
  server: Server | Http2Server,
  where: { readonly host: string; readonly port: number },
  openSockets: () => Iterable<Socket>,
): Promise<ReplayListener> {
  server.listen(where.port, where.host);
  try {
    await once(server, 'listening');
  } catch (thrown) {
    throw listenFailed(where, thrown as Error);
  }
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of openSockets()) socket.destroy();
      await closed;
    },
  };
}
