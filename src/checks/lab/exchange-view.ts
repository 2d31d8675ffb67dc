import { FLAG, type Transcript, idsOfEvent, textOfEvent } from '#core/transcript/index.ts';
import type { EventView, ExchangeView } from './result.ts';

/** Of a long stream, so many events from its start and as many from its end. */
const SHOWN = 80;
const TEXT_SHOWN = 60;
const IDS_SHOWN = 12;

const FLAGS = Object.entries(FLAG);

/** @param cancelAfter data events after which the client asked for a stop */
export function exchangeView(name: string, t: Transcript, cancelAfter?: number): ExchangeView {
  const cancelled = cancelAfter === undefined ? -1 : dataEvent(t, cancelAfter);
  const all = Array.from({ length: t.events }, (_, i) => i);
  const shown = all.length <= 2 * SHOWN ? all : [...all.slice(0, SHOWN), ...all.slice(-SHOWN)];
  return {
    name,
    events: shown.map((i) => eventView(t, i, i === cancelled)),
    ...(shown.length < all.length ? { gapBefore: SHOWN } : {}),
    total: t.events,
    ending: t.ending,
    endedMs: milliseconds(t.endedNs),
    finishReasons: t.finishReasons.map(({ reason }) => reason),
    errors: t.errors.map(({ code, message }) => ({ code, message: shortened(message, 400) })),
  };
}

function eventView(t: Transcript, i: number, cancels: boolean): EventView {
  const flags = FLAGS.filter(([, bit]) => ((t.flags[i] as number) & bit) !== 0).map(([word]) => word);
  const ids = Array.from(idsOfEvent(t, i).subarray(0, IDS_SHOWN));
  const text = textOfEvent(t, i);
  return {
    atMs: milliseconds(t.atNs[i] as number),
    flags: cancels ? [...flags, 'cancel'] : flags,
    ...(ids.length === 0 ? {} : { ids }),
    ...(text === '' ? {} : { text: shortened(text, TEXT_SHOWN) }),
  };
}

/** Index of the n-th event with data; -1 where there are fewer. */
function dataEvent(t: Transcript, n: number): number {
  let seen = 0;
  for (let i = 0; i < t.events; i++) if (((t.flags[i] as number) & FLAG.data) !== 0 && ++seen === n) return i;
  return -1;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
}

function milliseconds(ns: number): number {
  return Math.round(ns / 1000) / 1000;
}
