/** The events of an HTTP answer as the bytes that they were. */
import { headerOf } from '../content.ts';
import type { FixtureEvent, ResponseEvent } from '../types.ts';
import { type RequestIds, textWithIds } from './request-ids.ts';

/** What a body's framing has come to, and what a renumbered request adds to lengths that stand in headers. */
export interface Framing {
  readonly chunked: boolean;
  readonly grown: number;
  readonly headGrown: number;
  /** Bytes of the present chunk that are still to come. */
  left: number;
}

export function framingOf(events: readonly FixtureEvent[], ids: RequestIds): Framing {
  const response = events.findLast((event) => event.kind === 'response');
  const headers = response?.kind === 'response' ? response.headers : [];
  const chunked = /(^|,)\s*chunked\s*$/i.test(headerOf(headers, 'transfer-encoding') ?? '');
  const bodies = events.flatMap((event) => (event.kind === 'body' && event.from === 'server' ? [event.bytes] : []));
  const growth = (bytes: Buffer): number => textWithIds(bytes, ids).length - bytes.length;
  const grown = bodies.reduce((sum, bytes) => sum + growth(bytes), 0);
  const jsonBytes = headerOf(headers, 'inference-header-content-length');
  const headGrown = jsonBytes === undefined || bodies[0] === undefined ? 0 : growth(bodies[0].subarray(0, Number(jsonBytes)));
  return { chunked, grown, headGrown, left: 0 };
}

/** The head as it was, but for lengths that changed with the request's id. */
export function headText({ status, reason, headers }: ResponseEvent, { grown, headGrown }: Framing): Buffer {
  const lines = headers.map(([name, value]) => {
    const lower = name.toLowerCase();
    const more = lower === 'content-length' ? grown : lower === 'inference-header-content-length' ? headGrown : 0;
    return `${name}: ${more === 0 ? value : String(Number(value) + more)}`;
  });
  return Buffer.from([`HTTP/1.1 ${status} ${reason ?? ''}`, ...lines, '', ''].join('\r\n'), 'latin1');
}

/** @param renumbered gives a request's new id where the old one stood */
export function writtenBytes(event: FixtureEvent, framing: Framing, renumbered: (bytes: Buffer) => Buffer): Buffer {
  switch (event.kind) {
    case 'body':
      return renumbered(event.bytes);
    case 'bytes':
      return event.bytes;
    case 'chunk': {
      // The length of a chunk that was cut in two counts what was announced.
      const whole = event.announced === undefined && event.more === undefined;
      const bytes = whole ? renumbered(event.bytes) : event.bytes;
      const head = event.more === true ? '' : `${(event.announced ?? bytes.length).toString(16)}\r\n`;
      framing.left = (event.more === true ? framing.left : (event.announced ?? bytes.length)) - bytes.length;
      return Buffer.concat([Buffer.from(head, 'latin1'), bytes, Buffer.from(framing.left === 0 ? '\r\n' : '', 'latin1')]);
    }
    case 'end': {
      if (!framing.chunked) return Buffer.alloc(0);
      const trailers = (event.headers ?? []).map(([name, value]) => `${name}: ${value}\r\n`).join('');
      return Buffer.from(`0\r\n${trailers}\r\n`, 'latin1');
    }
    default:
      return Buffer.alloc(0);
  }
}
