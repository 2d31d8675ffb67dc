/** Reading fixtures, compressed or not, line by line: of a file of any size only one line is in memory. */
import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { LockstepError } from '#core/errors/index.ts';
import { ContentState } from './content.ts';
import { MAGIC, VERSION, headerOf } from './header.ts';
import { eventOf } from './line.ts';
import type { Fixture, FixtureEvent, FixtureHeader } from './types.ts';

/** An event has at most one message; a longer line is no fixture's, or one that nobody can read. */
const LONGEST_LINE_BYTES = 384 * 1024 * 1024;
/** What `readFixture` holds at once, as bytes of the text. */
const WHOLE_BYTES = 256 * 1024 * 1024;
const ZSTD_MAGIC = '28b52ffd';

/** A fixture that is read event by event; disposing it closes the file. */
export interface OpenFixture extends AsyncDisposable {
  readonly header: FixtureHeader;
  /** Once. Errors: those of `openFixture`, when the place is reached. */
  readonly events: AsyncGenerator<FixtureEvent, void, void>;
}

/**
 * Opens a fixture and reads its head.
 *
 * Errors: `fixture-not-found`, `fixture-not-one` (some other file), `fixture-version` (written by a newer Lockstep),
 * `fixture-malformed` (line and reason), `fixture-truncated` (the recorder ended before the exchange did).
 */
export async function openFixture(path: string): Promise<OpenFixture> {
  return opened(path, await bytesOf(path));
}

/** A whole fixture. Errors: those of `openFixture`, and `fixture-too-large`. */
export async function readFixture(path: string): Promise<Fixture> {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > WHOLE_BYTES) throw tooLarge(path);
  return collected(await openFixture(path), path);
}

/** The fixture in a text, whose name is for messages. Errors: those of `openFixture`. */
export async function parseFixture(text: string | Uint8Array, name: string): Promise<Fixture> {
  return collected(await opened(name, Readable.from([typeof text === 'string' ? Buffer.from(text, 'utf8') : text])), name);
}

async function collected(fixture: OpenFixture, path: string): Promise<Fixture> {
  await using _ = fixture;
  const events: FixtureEvent[] = [];
  let bytes = 0;
  for await (const event of fixture.events) {
    events.push(event);
    if ('bytes' in event) bytes += event.bytes.length;
    if (bytes > WHOLE_BYTES) throw tooLarge(path);
  }
  return { header: fixture.header, events };
}

function tooLarge(path: string): LockstepError {
  return new LockstepError('fixture-too-large', `${basename(path)} holds more than ${WHOLE_BYTES / 1024 ** 2} MB`, {
    hint: 'Record the exchange with fewer tokens or outputs, or shrink it; a fixture of this size is read only event by event.',
  });
}

async function bytesOf(path: string): Promise<Readable> {
  let magic: string;
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4), position: 0 });
    magic = buffer.toString('hex', 0, bytesRead);
  } catch (thrown) {
    throw new LockstepError('fixture-not-found', `cannot read ${path}: ${(thrown as Error).message}`, {
      hint: 'Name a fixture file; `lockstep record` prints those that it wrote.',
      cause: thrown,
    });
  }
  const source = createReadStream(path, { highWaterMark: 256 * 1024 });
  if (magic !== ZSTD_MAGIC) return source;
  const plain = createZstdDecompress();
  source.on('error', (error) => plain.destroy(error));
  plain.on('close', () => source.destroy());
  return source.pipe(plain);
}

async function opened(path: string, source: Readable): Promise<OpenFixture> {
  const name = basename(path);
  const lines = linesOf(source, name);
  const close = async (): Promise<void> => {
    await lines.return();
    source.destroy();
  };
  try {
    const header = await readHead(lines, name);
    return { header, events: readEvents(lines, name), [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

interface Line {
  readonly number: number;
  readonly text: string;
}

type Lines = AsyncGenerator<Line, void, void>;

async function readHead(lines: Lines, name: string): Promise<FixtureHeader> {
  const first = await lines.next();
  const [, version] = new RegExp(`^${MAGIC} (\\d{1,9})$`).exec(first.value?.text ?? '') ?? [];
  if (version === undefined) {
    throw new LockstepError('fixture-not-one', `${name} is no fixture: it does not begin with "${MAGIC}" and a version`, {
      hint: 'Name a file that `lockstep record` or a failing run has written.',
    });
  }
  if (Number(version) > VERSION) {
    throw new LockstepError('fixture-version', `${name} has version ${version}, and this Lockstep reads up to ${VERSION}`, {
      hint: 'Read it with the Lockstep that wrote it, or a newer one.',
    });
  }
  const head: string[] = [];
  for (;;) {
    const line = await lines.next();
    if (line.done) throw truncated(name, 0);
    if (line.value.text === '') break;
    head.push(line.value.text);
  }
  try {
    return headerOf(head);
  } catch (thrown) {
    throw malformed(name, (thrown as Error).message, thrown);
  }
}

async function* readEvents(lines: Lines, name: string): AsyncGenerator<FixtureEvent, void, void> {
  const state = new ContentState();
  let events = 0;
  let ended = false;
  let atNs = 0;
  for await (const { number, text } of lines) {
    const end = /^end (\d{1,15})$/.exec(text);
    if (ended) throw malformed(name, `line ${number} follows its end`);
    if (end !== null) {
      if (Number(end[1]) !== events) throw malformed(name, `it should have ${end[1]} events and has ${events}`);
      ended = true;
      continue;
    }
    let event: FixtureEvent;
    try {
      event = eventOf(text, state);
      if (event.atNs < atNs) throw new TypeError(`its time is before that of the event before it`);
    } catch (thrown) {
      throw malformed(name, `line ${number} cannot be read: ${(thrown as Error).message}`, thrown);
    }
    atNs = event.atNs;
    events++;
    yield event;
  }
  if (!ended) throw truncated(name, events);
}

/** Lines that end with a line feed; what follows the last one was cut. */
async function* linesOf(source: Readable, name: string): Lines {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (last: Buffer): Line => {
    number++;
    parts.push(last);
    const bytes = parts.length === 1 ? last : Buffer.concat(parts);
    parts = [];
    length = 0;
    try {
      return { number, text: utf8.decode(bytes) };
    } catch (thrown) {
      throw malformed(name, `line ${number} is not valid UTF-8`, thrown);
    }
  };
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        yield take(chunk.subarray(from, at));
        from = at + 1;
      }
      if (from === chunk.length) continue;
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > LONGEST_LINE_BYTES) throw malformed(name, `line ${number + 1} is longer than ${LONGEST_LINE_BYTES / 1024 ** 2} MB`);
    }
  } catch (thrown) {
    if (thrown instanceof LockstepError) throw thrown;
    throw malformed(name, `it cannot be read to its end: ${(thrown as Error).message}`, thrown);
  }
}

function malformed(name: string, why: string, cause?: unknown): LockstepError {
  return new LockstepError('fixture-malformed', `${name} is damaged: ${why}`, {
    hint: 'Take it from where it was recorded again; docs/fixtures.md has the format for those who wrote it by hand.',
    cause,
  });
}

function truncated(name: string, events: number): LockstepError {
  return new LockstepError('fixture-truncated', `${name} was cut after ${events} events: its recorder ended before the exchange did`, {
    hint: 'Record the exchange again, and end the recorder with Ctrl-C; other exchanges of the same recording are whole.',
    context: { events },
  });
}
