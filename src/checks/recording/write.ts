/** Fixture files: at once (`writeFixture`), or event by event while the exchange runs (`FixtureWriter`). */
import { closeSync, createReadStream, createWriteStream, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { LockstepError } from '#core/errors/index.ts';
import { makeFolders, writeFileAtomic } from '#core/files/index.ts';
import { ContentState } from './content.ts';
import { COMPRESSED, UNFINISHED } from './file-name.ts';
import { headerLines } from './header.ts';
import { eventLine } from './line.ts';
import type { Fixture, FixtureEvent, FixtureHeader } from './types.ts';

/** Larger files are compressed when they are finished: to about a quarter. */
const READABLE_BYTES = 4 * 1024 * 1024;
/** Written when so much has gathered, and with `flush`. */
const BUFFER_BYTES = 64 * 1024;

/** The whole file as text. */
export function fixtureText({ header, events }: Fixture): string {
  const state = new ContentState();
  const lines = [...headerLines(header), ...events.map((event) => eventLine(event, state)), endLine(events.length)];
  return `${lines.join('\n')}\n`;
}

/** Writes a fixture that is complete, in one piece or not at all. Errors: `file-not-writable`. */
export function writeFixture(path: string, fixture: Fixture): void {
  writeFileAtomic(path, fixtureText(fixture));
}

export function endLine(events: number): string {
  return `end ${events}`;
}

/**
 * Appends the events of one exchange to `<path>.part`, which becomes `path` when the exchange is over; what a recorder leaves
 * that is killed before is a file that says so when it is opened. Calls block: a recorder writes on a thread of its own.
 *
 * Errors of every call: `fixture-not-written`; nothing more can be appended then, and what was written before stays.
 */
export class FixtureWriter {
  readonly path: string;
  /** Where it is until it is finished. */
  readonly partPath: string;
  readonly #state = new ContentState();
  #file: number | undefined;
  #pending: string[] = [];
  #pendingLength = 0;
  #bytes = 0;
  #events = 0;

  /** @param folder made when it is missing */
  constructor(folder: string, name: string, header: FixtureHeader) {
    this.path = join(folder, name);
    this.partPath = this.path + UNFINISHED;
    this.#try(() => {
      makeFolders(dirname(this.path));
      this.#file = openSync(this.partPath, 'wx');
    });
    this.#add(headerLines(header).join('\n'));
  }

  get events(): number {
    return this.#events;
  }

  append(event: FixtureEvent): void {
    this.#add(eventLine(event, this.#state));
    this.#events++;
  }

  /** Hands everything to the system, where a kill of this process does not reach it. */
  flush(): void {
    const bytes = Buffer.from(this.#pending.join(''), 'utf8');
    this.#pending = [];
    this.#pendingLength = 0;
    this.#try(() => {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file!, bytes, at);
    });
    this.#bytes += bytes.length;
  }

  /** The exchange is over. Gives the path of the file, which has another ending where it was large. */
  async finish(): Promise<string> {
    this.#add(endLine(this.#events));
    this.flush();
    this.#close();
    if (this.#bytes <= READABLE_BYTES) {
      this.#try(() => renameSync(this.partPath, this.path));
      return this.path;
    }
    const small = this.path + COMPRESSED;
    try {
      const how = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
      await pipeline(createReadStream(this.partPath), createZstdCompress(how), createWriteStream(small + UNFINISHED));
      renameSync(small + UNFINISHED, small);
      unlinkSync(this.partPath);
      return small;
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  /** The exchange does not end any more: the file stays as it is. */
  leave(): void {
    if (this.#file === undefined) return;
    try {
      this.flush();
    } finally {
      this.#close();
    }
  }

  #add(line: string): void {
    this.#pending.push(line, '\n');
    this.#pendingLength += line.length;
    if (this.#pendingLength > BUFFER_BYTES) this.flush();
  }

  #close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#close();
      throw this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): LockstepError {
    return new LockstepError('fixture-not-written', `cannot write ${this.path}: ${(thrown as Error).message}`, {
      hint: 'Make room or name another folder with --output; exchanges that were finished before are whole.',
      cause: thrown,
    });
  }
}
