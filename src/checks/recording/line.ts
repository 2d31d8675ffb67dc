/** One event, one line: nanoseconds, `>` from the client or `<` from the server, the kind, and the rest as JSON. */
import {
  type ContentState,
  type JsonObject,
  bodyContent,
  bodyContentBytes,
  messageContent,
  messageContentBytes,
  textContent,
} from './content.ts';
import type { Json } from './message-json.ts';
import type { FixtureEvent, Headers, Side } from './types.ts';

/** Throws nothing: every event can be written. The state follows the event. */
export function eventLine(event: FixtureEvent, state: ContentState): string {
  const line = `${event.atNs} ${event.from === 'client' ? '>' : '<'} ${event.kind} ${oneLine(fieldsOf(event, state))}`;
  state.saw(event);
  return line;
}

/** JSON that moves no cursor and turns no text around when a terminal shows it: one line, in which such characters are escaped. */
export function oneLine(value: Json | object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function fieldsOf(event: FixtureEvent, state: ContentState): object {
  switch (event.kind) {
    case 'request':
      return { method: event.method, path: event.path, headers: event.headers };
    case 'response':
      return { status: event.status, reason: event.reason, headers: event.headers };
    case 'message':
      return { encoding: event.encoding, ...messageContent(event.bytes, event.encoding, event.from, state) };
    case 'chunk':
      return { announced: event.announced, more: event.more, ...textContent(event.bytes) };
    case 'body':
      return bodyContent(event.bytes, event.from, state);
    case 'end':
    case 'trailers':
      return { headers: event.headers };
    case 'reset':
      return { code: event.code };
    case 'close':
      return {};
    case 'goaway':
      return { code: event.code, text: event.text };
    case 'bytes':
      return { why: event.why, ...textContent(event.bytes) };
  }
}

const LINE = /^(\d{1,16}) ([<>]) ([a-z]+) (\{.*\})$/;

/** Throws a TypeError or SyntaxError that says, as a phrase, what is wrong with the line. The state follows the event. */
export function eventOf(line: string, state: ContentState): FixtureEvent {
  const [, time, arrow, kind, json] = LINE.exec(line) ?? [];
  if (json === undefined) throw new TypeError('it is no event: time, > or <, kind, JSON');
  const fields = new Fields(JSON.parse(json) as JsonObject);
  const event = read(Number(time), arrow === '>' ? 'client' : 'server', kind as FixtureEvent['kind'], fields, state);
  fields.assertNoOthers();
  state.saw(event);
  return event;
}

const CONTENT = ['message', 'raw', 'base64', 'text', 'tensors'] as const;

function read(atNs: number, from: Side, kind: FixtureEvent['kind'], fields: Fields, state: ContentState): FixtureEvent {
  const of = <E extends FixtureEvent>(event: E, side?: Side): E => {
    if (side !== undefined && side !== from) throw new TypeError(`no ${kind} comes from the ${from}`);
    return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)) as unknown as E;
  };
  switch (kind) {
    case 'request':
      return of(
        { kind, atNs, from: 'client', method: fields.maybeText('method'), path: fields.text('path'), headers: fields.headers('headers') },
        'client',
      );
    case 'response':
      return of(
        {
          kind,
          atNs,
          from: 'server',
          status: fields.maybeCount('status'),
          reason: fields.maybeText('reason'),
          headers: fields.headers('headers'),
        },
        'server',
      );
    case 'message': {
      const encoding = fields.maybeText('encoding');
      return of({ kind, atNs, from, bytes: messageContentBytes(fields.some(CONTENT), encoding, from, state), encoding });
    }
    case 'chunk': {
      const more = fields.maybeTrue('more');
      return of({ kind, atNs, from, bytes: bodyContentBytes(fields.some(CONTENT)), announced: fields.maybeCount('announced'), more });
    }
    case 'body':
      return of({ kind, atNs, from, bytes: bodyContentBytes(fields.some(CONTENT)) });
    case 'end':
      return of({ kind, atNs, from, headers: fields.maybeHeaders('headers') });
    case 'trailers':
      return of({ kind, atNs, from: 'server', headers: fields.headers('headers') }, 'server');
    case 'reset':
      return of({ kind, atNs, from, code: fields.text('code') });
    case 'close':
      return of({ kind, atNs, from });
    case 'goaway':
      return of({ kind, atNs, from, code: fields.text('code'), text: fields.text('text') });
    case 'bytes':
      return of({ kind, atNs, from, bytes: bodyContentBytes(fields.some(CONTENT)), why: fields.text('why') });
    default:
      throw new TypeError(`there is no kind of event called ${String(kind)}`);
  }
}

/** Takes the fields of an event one by one, so that what is left over can be refused. */
class Fields {
  readonly #fields: JsonObject;
  readonly #left: Set<string>;

  constructor(fields: JsonObject) {
    this.#fields = fields;
    this.#left = new Set(Object.keys(fields));
  }

  text(name: string): string {
    const value = this.maybeText(name);
    if (value === undefined) throw new TypeError(`${name} is missing`);
    return value;
  }

  maybeText(name: string): string | undefined {
    const value = this.#take(name);
    if (value !== undefined && typeof value !== 'string') throw new TypeError(`${name} is no text`);
    return value;
  }

  maybeCount(name: string): number | undefined {
    const value = this.#take(name);
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= 0)) throw new TypeError(`${name} is no count`);
    return value as number | undefined;
  }

  maybeTrue(name: string): true | undefined {
    const value = this.#take(name);
    if (value !== undefined && value !== true) throw new TypeError(`${name} is not true`);
    return value;
  }

  headers(name: string): Headers {
    const value = this.maybeHeaders(name);
    if (value === undefined) throw new TypeError(`${name} is missing`);
    return value;
  }

  maybeHeaders(name: string): Headers | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const pair = (one: unknown) => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === 'string');
    if (!Array.isArray(value) || !value.every(pair)) throw new TypeError(`${name} is no list of pairs of texts`);
    return value as unknown as Headers;
  }

  some(names: readonly string[]): JsonObject {
    return Object.fromEntries(names.filter((name) => this.#left.delete(name)).map((name) => [name, this.#fields[name] as Json]));
  }

  assertNoOthers(): void {
    if (this.#left.size > 0) throw new TypeError(`${[...this.#left].join(', ')} is unknown here`);
  }

  #take(name: string): Json | undefined {
    return this.#left.delete(name) ? this.#fields[name] : undefined;
  }
}
