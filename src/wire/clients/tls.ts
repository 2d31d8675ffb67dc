import { CallCredentials, ChannelCredentials, type experimental } from '@grpc/grpc-js';
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Access } from './access.ts';

const contexts = new WeakMap<Access, SecureContext>();

/** Certificates of one way in, for both protocols; without a CA of one's own, those of Node and of the system are trusted. */
export function secureContext(access: Access): SecureContext {
  let context = contexts.get(access);
  if (context === undefined) {
    const { ca = trusted(), cert, key } = access;
    contexts.set(access, (context = createSecureContext({ ca, cert, key })));
  }
  return context;
}

/** Most are in both lists, and each costs time. */
function trusted(): string[] {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
}

/**
 * TLS for one address of gRPC, verified like any other. grpc-js's own credentials put an address that is a number into the
 * server name, which RFC 6066 (section 3) forbids: Node warns of it on the user's terminal, and servers may refuse it.
 */
export class TlsCredentials extends ChannelCredentials {
  readonly #host: string;
  readonly #context: SecureContext;

  /** @param host as the certificate must have it, without brackets */
  constructor(host: string, access: Access) {
    super();
    this.#host = host;
    this.#context = secureContext(access);
  }

  _isSecure(): boolean {
    return true;
  }

  _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  _createSecureConnector(): experimental.SecureConnector {
    return {
      connect: (socket) => this.#connect(socket),
      waitForReady: async () => {},
      getCallCredentials: () => CallCredentials.createEmpty(),
      destroy: () => {},
    };
  }

  #connect(socket: Socket): Promise<experimental.SecureConnectResult> {
    const { promise, resolve, reject } = Promise.withResolvers<experimental.SecureConnectResult>();
    const secured = connect({
      socket,
      host: this.#host,
      servername: isIP(this.#host) === 0 ? this.#host : '',
      secureContext: this.#context,
      ALPNProtocols: ['h2'],
    });
    secured.once('secureConnect', () => resolve({ socket: secured, secure: true }));
    // Stays: after the handshake the session of HTTP/2 listens too.
    secured.on('error', reject);
    return promise;
  }
}
