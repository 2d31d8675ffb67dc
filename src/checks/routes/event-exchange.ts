import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockstepError } from '#core/errors/index.ts';
import { type Ending, FLAG, type Transcript, type TranscriptBuilder } from '#core/transcript/index.ts';
import { type BodyEvent, type EventStream, httpErrorText } from '#wire/clients/index.ts';
import type { RunOptions } from './types.ts';

/**
 * Opens the builder's event for one JSON payload of a 200 answer and fills it. Gives whether it was a data event, for
 * counting. What it throws (a payload of another shape) becomes an error of that event.
 */
export type PayloadReader = (payload: Readonly<Record<string, unknown>>) => boolean;

/** Reads one HTTP answer, streamed or whole, from the request to the end of the body and seals its transcript. */
export async function runEventExchange(
  stream: EventStream,
  builder: TranscriptBuilder,
  read: PayloadReader,
  options: RunOptions,
): Promise<Transcript> {
  await using _ = stream;
  const leaveAfter = options.cancel?.how === 'leave' ? options.cancel.afterEvents : undefined;
  if (leaveAfter === 0) {
    await stream.sent;
    await nextTurn();
    stream.close();
  }
  const { cancel } = options;
  // A failure to find the moment is the caller's, who hears of it by awaiting its own promise.
  if (cancel?.how === 'leave-when')
    void stream.sent
      .then(() => cancel.when(stream.ending))
      .catch(() => undefined)
      .then(() => stream.close());
  let truncated: LockstepError | undefined;
  try {
    const { status } = await stream.head;
    let dataEvents = 0;
    let answered = false;
    for await (const event of stream.events) {
      answered = true;
      if (status !== 200) builder.error(`HTTP ${status}`, httpErrorText(event.text), 'instead');
      else if (readEvent(event, builder, read) && ++dataEvents === leaveAfter) break;
    }
    if (status !== 200 && !answered) builder.error(`HTTP ${status}`, '', 'instead');
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    if (error.code === 'interrupted' || error.code === 'internal') throw error;
    // Every other failure is the ending of the exchange, but for an event that was cut.
    if (error.code === 'sse-truncated') truncated = error;
  }
  const ending = await stream.ending;
  if (ending.kind === 'interrupted') throw ending.error;
  const failure = truncated ?? (ending.kind === 'broken' ? ending.error : undefined);
  if (failure !== undefined) {
    builder.error(failure.code, failure.message, 'instead');
    return builder.seal('broken');
  }
  return builder.seal(ENDINGS[ending.kind]);
}

const ENDINGS: Readonly<Record<'complete' | 'closed' | 'deadline' | 'broken', Ending>> = {
  complete: 'complete',
  closed: 'cancelled',
  deadline: 'deadline',
  broken: 'broken',
};

function readEvent(event: BodyEvent, builder: TranscriptBuilder, read: PayloadReader): boolean {
  if (event.done) {
    builder.event(FLAG.done);
    return false;
  }
  const payload = event.json;
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    builder.event(0);
    builder.error('malformed', `an event is no JSON object: ${event.text.slice(0, 200)}`);
    return false;
  }
  const { error, detail } = payload as { error?: unknown; detail?: unknown };
  if (error !== undefined || detail !== undefined) {
    builder.event(0);
    builder.error('in-band', httpErrorText(event.text));
    return false;
  }
  let isData = false;
  const before = builder.events;
  try {
    isData = read(payload as Readonly<Record<string, unknown>>);
  } catch (thrown) {
    if (builder.events === before) builder.event(0);
    builder.error('malformed', `an event cannot be read: ${(thrown as Error).message}`);
  }
  if (event.invalidUtf8 !== undefined) builder.error('invalid-utf8', `an event is not valid UTF-8: ${event.invalidUtf8}`);
  return isData;
}
