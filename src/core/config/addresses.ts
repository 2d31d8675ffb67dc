/** What addresses and headers may look like; anything else is refused before anybody is asked. */
import { isIPv6 } from 'node:net';

const HOST_PORTS = /^(?:(\w+):\/\/)?(\[[^\]]*\]|[^:[\]]*):([1-9]\d{0,4}(?:,[1-9]\d{0,4})*)$/;

/** Labels as of names in a network; containers have underscores in theirs. */
const HOST_NAME = /^\w(?:[\w-]*\w)?(?:\.\w(?:[\w-]*\w)?)*\.?$/;

/** `host:port,port|host:port`, each with this scheme or none. */
export function isHostPorts(text: string, scheme: string): boolean {
  return text.split('|').every((part) => {
    const [, given = scheme, host = '', ports = ''] = HOST_PORTS.exec(part) ?? [];
    return given === scheme && isHost(host) && ports.split(',').every((port) => Number(port) > 0 && Number(port) < 65536);
  });
}

function isHost(host: string): boolean {
  return host.startsWith('[') ? URL.canParse(`http://${host}`) && isIPv6(host.slice(1, -1)) : HOST_NAME.test(host);
}

/** What clients of an OpenAI endpoint put behind the base; whoever gives it means the part before. */
const BEHIND_THE_BASE = /\/v1(?:\/(?:models|completions|chat\/completions))?\/*$/i;

/** Base URLs with `|` between them: no user, no query, no fragment, nothing from /v1 on. */
export function isBaseUrls(text: string): boolean {
  return text.split('|').every((part) => {
    if (!/^https?:\/\/[^/]/.test(part) || /[\s?#\\]/.test(part) || !URL.canParse(part)) return false;
    const { username, password, pathname, port, hostname } = new URL(part);
    return username === '' && password === '' && !part.includes('@') && port !== '0' && hostname !== '' && !BEHIND_THE_BASE.test(pathname);
  });
}

/**
 * Of an address as it was given: without user and password, and without what stands behind a question mark or a hash, where
 * gateways take keys.
 */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/[^\s|/]*@/g, '…@').replaceAll(/[?#][^|]*/g, '?…');
}

/** Names that are right in HTTP and in metadata of gRPC; those that end in -bin have bytes there (grpc/grpc doc/PROTOCOL-HTTP2.md). */
const HEADER = /^([\w.-]+):[ \t]*([\x20-\x7e]*)$/;

/** Framing, deadlines and connections are the call's own. */
const OWN = /^(?:connection|content-.*|expect|grpc-.*|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|.*-bin)$/i;

/** `name: value`, as both protocols can carry it. */
export function isHeader(line: string): boolean {
  const name = HEADER.exec(line)?.[1];
  return name !== undefined && !OWN.test(name);
}
