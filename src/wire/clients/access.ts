/** How a client gets in: certificates for addresses with TLS, and headers that every call carries. */
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import { TlsCredentials } from './tls.ts';

export interface Access {
  /** PEM text of the certificates to trust in place of the system's; absent: Node's and the system's. */
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
  if (!address.startsWith(GRPCS)) return { address, credentials: credentials.createInsecure() };
  const bare = address.slice(GRPCS.length);
  return { address: bare, credentials: new TlsCredentials(bare.slice(0, bare.lastIndexOf(':')).replace(/^\[|\]$/g, ''), access) };
}

const GRPCS = 'grpcs://';

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

/** Shorter values are no secrets, and would be found in any text. */
const SECRET_CHARACTERS = 6;

const HIDDEN = '***';

/** What a server said, without what it was told by headers: some quote the token that they refuse. */
export function withoutSecrets(text: string, { headers }: Access = OPEN): string {
  let hidden = text;
  for (const value of Object.values(headers)) {
    // The scheme before a token (`Bearer`) is none.
    const secret = value.slice(value.lastIndexOf(' ') + 1);
    if (secret.length >= SECRET_CHARACTERS) hidden = hidden.replaceAll(value, HIDDEN).replaceAll(secret, HIDDEN);
  }
  return hidden;
}
