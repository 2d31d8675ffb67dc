/** Small real servers on port 0, for the tests of clients and routes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { Server, ServerCredentials, type ServerOptions, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { INFERENCE_SERVICE, UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';

export interface TestServer extends AsyncDisposable {
  /** host:port */
  readonly address: string;
}

/** A grpc-js server of Triton's service; what `implementation` leaves out is UNIMPLEMENTED. */
export async function grpcServer(implementation: UntypedServiceImplementation, options: ServerOptions = {}): Promise<TestServer> {
  const server = new Server({ ...UNLIMITED_MESSAGES, ...options });
  server.addService(INFERENCE_SERVICE, implementation);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => (error === null ? resolve(port) : reject(error)));
  const port = await promise;
  return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

export async function httpServer(handle: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void): Promise<TestServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => handle(request, response, Buffer.concat(parts)));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A TCP server that answers each connection by hand, for broken framing. */
export async function tcpServer(handle: (socket: Socket) => void): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => handle(socket));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** An address where nothing listens: a port that was free a moment ago. */
export async function unusedAddress(): Promise<string> {
  const server = await tcpServer(() => {});
  await server[Symbol.asyncDispose]();
  return server.address;
}
