/** The request of a recording, sent again to a live server byte for byte; what comes back is a new recording. */
import { wallClock } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type ClientEndpoints, hostPort } from '#wire/clients/index.ts';
import { Redactor } from '../redact.ts';
import type { Fixture, FixtureEvent } from '../types.ts';
import { clientLeft, scriptOf } from './script.ts';
import { sendGrpc } from './send-grpc.ts';
import { sendHttp } from './send-http.ts';
import type { Sending } from './sending.ts';

export interface SendOptions {
  readonly endpoints: ClientEndpoints;
  /** Times as fast as recorded, for what the client did in the middle of the exchange. */
  readonly speed: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly identity?: Readonly<Record<string, string>> | undefined;
  /** Release profile of the server. */
  readonly profile?: string | undefined;
}

/**
 * Sends what the recorded client sent: the same messages or body, with its headers but for secrets and names of hosts; later
 * messages at their time, and a client that left leaves after as much of the answer.
 *
 * Errors: `fixture-not-replayable`, `openai-front-end-missing`, `target-unreachable`, `interrupted`.
 */
export async function sendFixture(fixture: Fixture, name: string, options: SendOptions): Promise<Fixture> {
  const { protocol } = scriptOf(fixture, name);
  const { endpoints, identity, profile } = options;
  const address = endpoints[protocol];
  if (address === undefined || address === '') {
    throw new LockstepError(
      'openai-front-end-missing',
      `${name} is for ${protocol === 'openai' ? 'an OpenAI front end' : protocol}, and the target has none`,
      {
        hint: `Give the target its address: --${protocol}.`,
      },
    );
  }
  const { header, events } = fixture;
  const sending: Sending = { ...options, events, leaveAfter: leavesAfter(fixture) };
  const seen = protocol === 'grpc' ? await sendGrpc(sending) : await sendHttp(sending, address);
  const redactor = new Redactor();
  const { case: c, asked, note } = header;
  return {
    header: {
      protocol,
      recorded: { at: wallClock(), by: 'client', server: hostPort(address) },
      ...(note === undefined ? {} : { note }),
      ...(profile === undefined ? {} : { profile }),
      ...(identity === undefined ? {} : { identity }),
      ...(c === undefined ? {} : { case: c }),
      ...(asked === undefined ? {} : { asked }),
      ...(header.truth === undefined ? {} : { truth: header.truth }),
    },
    events: fromZero(seen).map((event) => redactor.event(event)),
  };
}

function leavesAfter({ header, events }: Fixture): number | undefined {
  // One of the suite's own that waited until its deadline did not mean to go.
  if (!clientLeft(events) || (header.case !== undefined && header.asked?.cancel === undefined)) return undefined;
  const at = events.findIndex(({ from, kind }) => from === 'client' && (kind === 'reset' || kind === 'close'));
  return events.slice(0, at).filter(({ from, kind }) => from === 'server' && ['message', 'chunk', 'body'].includes(kind)).length;
}

function fromZero(events: readonly FixtureEvent[]): FixtureEvent[] {
  const startNs = events[0]?.atNs ?? 0;
  let lastNs = 0;
  return events.map((event) => ({ ...event, atNs: (lastNs = Math.max(lastNs, Math.round(event.atNs - startNs))) }));
}
