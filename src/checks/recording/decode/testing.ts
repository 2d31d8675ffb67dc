/** What the tests of decoders share: exchanges as lists of what happened. */
import type { FixtureEvent, FixtureProtocol } from '../types.ts';
import { SniffingDecoder } from './connection.ts';

export interface Seen {
  readonly protocol: FixtureProtocol;
  readonly events: FixtureEvent[];
  over: boolean;
}

export interface Watched {
  readonly decoder: SniffingDecoder;
  readonly exchanges: readonly Seen[];
  readonly tls: () => boolean;
}

export function watched(): Watched {
  const exchanges: Seen[] = [];
  let tls = false;
  const decoder = new SniffingDecoder({
    begin: (protocol) => {
      const one: Seen = { protocol, events: [], over: false };
      exchanges.push(one);
      return { add: (event) => one.events.push(event), over: () => (one.over = true) };
    },
    onTls: () => (tls = true),
  });
  return { decoder, exchanges, tls: () => tls };
}

/** `> request GET /`, `< chunk hello`, …: an exchange on a few lines. */
export function told({ events }: Seen): string[] {
  return events.map((event) => {
    const what: (string | number | undefined)[] = [event.from === 'client' ? '>' : '<', event.kind];
    if (event.kind === 'request') what.push(event.method, event.path);
    if (event.kind === 'response') what.push(event.status);
    if (event.kind === 'reset' || event.kind === 'goaway') what.push(event.code);
    if (event.kind === 'message') what.push(event.encoding);
    if (event.kind === 'chunk')
      what.push(event.announced === undefined ? undefined : `of ${event.announced}`, event.more ? 'more' : undefined);
    if (event.kind === 'bytes') what.push(`(${event.why})`);
    if ('bytes' in event && event.kind !== 'message') what.push(JSON.stringify(event.bytes.toString('latin1')));
    if (event.kind === 'end' && event.headers !== undefined) what.push(event.headers.map((pair) => pair.join(': ')).join(', '));
    if (event.kind === 'trailers') what.push(...event.headers.filter(([name]) => name === 'grpc-status').map((pair) => pair.join(': ')));
    return what.filter((word) => word !== undefined).join(' ');
  });
}
