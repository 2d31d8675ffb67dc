/** How a client gets in: certificates for addresses with TLS, and headers that every call carries. */
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';

export interface Access {
  /** PEM text of the certificates to trust in place of the system's; absent: the system's. */
  readonly ca?: string | undefined;
  /** PEM texts of the client's own certificate and its key, for servers that ask for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Header names in lower case → values; metadata on gRPC. Values are secrets: they go to the server and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
}

export const OPEN: Access = { headers: {} };

/** `grpcs://host:port` → TLS; `host:port` → none. */
export function grpcTarget(address: string, access: Access = OPEN): { readonly address: string; readonly credentials: ChannelCredentials } {
  const secured = /^grpcs:\/\//.test(address);
  if (!secured) return { address, credentials: credentials.createInsecure() };
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return {
    address: address.slice('grpcs://'.length),
    credentials: credentials.createSsl(pem(access.ca), pem(access.key), pem(access.cert)),
  };
}

export function grpcMetadata(access: Access = OPEN): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(access.headers)) metadata.set(name, value);
  return metadata;
}

/** `https://host:port` as it is, `host:port` → `http://host:port`. */
export function httpBase(address: string): string {
  return /^https?:\/\//.test(address) ? address : `http://${address}`;
}

/** host:port of an address of either protocol, with the default port of its scheme. */
export function hostPort(address: string): string {
  if (!address.includes('://')) return address;
  const url = new URL(address.replace(/^grpcs:/, 'https:'));
  return `${url.hostname}:${url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port}`;
}
