import { wallClock } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type Json, messageBytes } from '../message-json.ts';
import { messageType } from '../proto-types.ts';
import { Redactor } from '../redact.ts';
import type { Fixture, FixtureEvent, Headers } from '../types.ts';

/** A recording of a request alone, which was never sent. */
export type Imported = Fixture;

export function unreadable(what: string, hint: string): LockstepError {
  return new LockstepError('import-unreadable', what, { hint });
}

export interface HttpParts {
  /** A whole URL, or host and path; the host is for the reader: what is sent goes to the target. */
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Buffer | undefined;
  readonly note: string;
}

/** Errors: `import-unreadable`. */
export function httpRequest({ url, method, headers, body, note }: HttpParts): Imported {
  const parsed = URL.parse(/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw unreadable(`${url.slice(0, 200)} is no URL of HTTP`, 'Copy the whole request.');
  if (!/^[A-Z]+$/.test(method)) throw unreadable(`${method.slice(0, 40)} is no method of HTTP`, 'Write GET or POST.');
  const path = `${parsed.pathname}${parsed.search}`;
  const lengths = body === undefined ? [] : [['Content-Length', String(body.length)] as const];
  const kept = headers.filter(([name]) => !['host', 'content-length', 'transfer-encoding'].includes(name.toLowerCase()));
  const events: FixtureEvent[] = [
    { kind: 'request', from: 'client', atNs: 0, method, path, headers: [['Host', parsed.host], ...kept, ...lengths] },
    ...(body === undefined || body.length === 0 ? [] : [{ kind: 'body', from: 'client', atNs: 0, bytes: body } as const]),
    { kind: 'end', from: 'client', atNs: 0 },
  ];
  return imported(/^\/v1(\/|$)/.test(parsed.pathname) ? 'openai' : 'http', events, note);
}

/** A body of JSON to one of the paths that a suite's route asks. */
export function jsonRequest(path: string, body: Json, note: string): Imported {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  return httpRequest({
    url: `http://localhost${path}`,
    method: 'POST',
    headers: [['Content-Type', 'application/json']],
    body: bytes,
    note,
  });
}

const STREAM = '/inference.GRPCInferenceService/ModelStreamInfer';

/** A request of tensors, on a stream of its own. */
export function tensorRequest(message: { readonly [key: string]: Json }, note: string): Imported {
  const bytes = messageBytes(messageType(STREAM, 'client')!, message);
  return imported(
    'grpc',
    [
      { kind: 'request', from: 'client', atNs: 0, path: STREAM, headers: [] },
      { kind: 'message', from: 'client', atNs: 0, bytes },
      { kind: 'end', from: 'client', atNs: 0 },
    ],
    note,
  );
}

function imported(protocol: Fixture['header']['protocol'], events: readonly FixtureEvent[], note: string): Imported {
  const redactor = new Redactor();
  return { header: { protocol, recorded: { at: wallClock(), by: 'import' }, note }, events: events.map((event) => redactor.event(event)) };
}
