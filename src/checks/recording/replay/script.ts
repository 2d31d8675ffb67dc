/** Recorded exchanges by what was asked in them. */
import { LockstepError } from '#core/errors/index.ts';
import type { Fixture, FixtureEvent } from '../types.ts';
import { type Question, differences, grpcQuestion, httpQuestion } from './question.ts';

/** A fixture that a server can play. */
export interface Script {
  /** What to call it in messages: the name of its file. */
  readonly name: string;
  readonly protocol: 'grpc' | 'http' | 'openai';
  readonly path: string;
  /** Of gRPC one per message of the client, of HTTP exactly one. */
  readonly questions: readonly Question[];
  readonly events: readonly FixtureEvent[];
}

/** Errors: `fixture-not-replayable` when no request could be read in it. */
export function scriptOf({ header, events }: Fixture, name: string): Script {
  const [request] = events;
  if (header.protocol === 'unknown' || request?.kind !== 'request') {
    throw new LockstepError('fixture-not-replayable', `${name} has no request that could be read: its bytes are all there is`, {
      hint: 'Record the connection without TLS, or leave this fixture out.',
    });
  }
  const { protocol } = header;
  const { path } = request;
  const said = events.filter((event) => event.from === 'client');
  const questions =
    protocol === 'grpc'
      ? said.flatMap((event) => (event.kind === 'message' ? [grpcQuestion(path, event.bytes, event.encoding)] : []))
      : [httpQuestion(request.method ?? 'GET', path, request.headers, bodyOf(said))];
  return { name, protocol, path, questions, events: inOrder(events) };
}

/** What a message had when it was cut stands behind the end that cut it, and was said before. */
function inOrder(events: readonly FixtureEvent[]): readonly FixtureEvent[] {
  const end = events.findIndex(({ from, kind }) => from === 'server' && (kind === 'close' || kind === 'reset'));
  const late = end < 0 ? [] : events.slice(end + 1).filter(({ from, kind }) => from === 'server' && kind === 'bytes');
  if (late.length === 0) return events;
  const { atNs } = events[end]!;
  return [
    ...events.slice(0, end),
    ...late.map((event) => ({ ...event, atNs })),
    ...events.slice(end).filter((event) => !late.includes(event)),
  ];
}

/** What one side's body was, whatever its framing. */
export function bodyOf(events: readonly FixtureEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event) => (event.kind === 'body' || event.kind === 'chunk' ? [event.bytes] : [])));
}

/** Whether the client of a recording went away before the server had said everything. */
export function clientLeft(events: readonly FixtureEvent[]): boolean {
  return leavesAt(events) >= 0 && !halfClosed(events);
}

/** Whether it only closed its half of the connection: the answer went on. */
export function halfClosed(events: readonly FixtureEvent[]): boolean {
  const at = leavesAt(events);
  const said = ['response', 'message', 'chunk', 'body', 'end', 'trailers'];
  return at >= 0 && events[at]?.kind === 'close' && events.slice(at).some(({ from, kind }) => from === 'server' && said.includes(kind));
}

function leavesAt(events: readonly FixtureEvent[]): number {
  return events.findIndex(({ from, kind }) => from === 'client' && (kind === 'reset' || kind === 'close'));
}

/** The recordings of one server. Equal requests get their recordings in turn, beginning again after the last. */
export class Shelf {
  readonly scripts: readonly Script[];
  readonly #anything: boolean;
  readonly #played = new Map<Script, number>();

  /** @param anything whatever is asked gets the one script that there is */
  constructor(scripts: readonly Script[], anything = false) {
    this.scripts = scripts;
    this.#anything = anything;
  }

  /** Whether a question is the one that stands there. */
  matches(asked: Question, recorded: Question | undefined): boolean {
    return recorded !== undefined && (this.#anything || differences(asked, recorded).length === 0);
  }

  take(asked: Question): Script | undefined {
    const found = this.scripts.filter((script) => this.matches(asked, script.questions[0]));
    return this.#first(found);
  }

  /** A call that ended without a message. */
  takeSilent(path: string): Script | undefined {
    return this.#first(this.scripts.filter((script) => script.path === path && script.questions.length === 0));
  }

  /** Why nothing is played: the recording that is nearest, and what differs. */
  missing(asked: Question): string {
    const near = this.scripts
      .flatMap((script) => script.questions.map((recorded) => ({ name: script.name, differs: differences(asked, recorded) })))
      .toSorted((a, b) => distance(a.differs) - distance(b.differs));
    const [nearest] = near;
    if (nearest === undefined) return `no recording was asked ${asked.path}`;
    const few = nearest.differs.slice(0, SHOWN).join('; ');
    const more = nearest.differs.length > SHOWN ? `; and ${nearest.differs.length - SHOWN} more` : '';
    return `no recording was asked this; nearest is ${nearest.name}: ${few}${more}`;
  }

  #first(found: readonly Script[]): Script | undefined {
    const times = (script: Script): number => this.#played.get(script) ?? 0;
    const script = found.toSorted((a, b) => times(a) - times(b))[0];
    if (script !== undefined) this.#played.set(script, times(script) + 1);
    return script;
  }
}

const SHOWN = 3;

/** Another path is further away than any other difference. */
function distance(differs: readonly string[]): number {
  return differs.length + (differs[0]?.startsWith('it is sent to ') === true ? 1000 : 0);
}
