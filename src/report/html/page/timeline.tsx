/** A stream as a picture: what came when, with the flags that it bore, the cancel and the end. */
import type { JSX } from 'preact';
import type { JsonFailure } from '../../root-causes.ts';
import { plural } from './format.ts';
import { Visible, visibleText } from './visible.tsx';

type Exchange = NonNullable<JsonFailure['exchanges']>[number];
type Event = Exchange['events'][number];

const WIDTH = 900;
const LEFT = 24;
const RIGHT = 30;
/** Room for the axis and its numbers, for the bars, and for each row of marks. */
const BELOW = 22;
const BARS = 32;
const ROW = 14;

/** Marks that stand above the line, in the order in which they are explained. */
const MARKS: Readonly<Record<string, { readonly glyph: string; readonly says: string }>> = {
  final: { glyph: '◆', says: 'final flag' },
  finish: { glyph: '▲', says: 'finish reason' },
  usage: { glyph: '△', says: 'usage' },
  role: { glyph: '○', says: 'role' },
  done: { glyph: '■', says: '[DONE]' },
  error: { glyph: '✕', says: 'error' },
  cancel: { glyph: '✂', says: 'the client asked for a stop' },
};

export function Timeline({ exchange }: { readonly exchange: Exchange }): JSX.Element {
  const { events, endedMs, ending, finishReasons, errors, total, name } = exchange;
  const last = Math.max(endedMs, ...events.map(({ atMs }) => atMs), 0.001);
  const x = (ms: number) => LEFT + (ms / last) * (WIDTH - LEFT - RIGHT);
  const used = Object.keys(MARKS).filter((flag) => events.some(({ flags }) => flags.includes(flag)));
  const everywhere = used.filter((flag) => total > 3 && events.every(({ flags }) => flags.includes(flag)));
  const shown = used.filter((flag) => !everywhere.includes(flag));
  const marks = placed(events, shown, x);
  const axis = 8 + BARS + ROW * Math.max(1, ...marks.map(({ row }) => row + 1));
  const height = axis + BELOW;
  const told = visibleText(`${name}: ${plural(total, 'event')} in ${endedMs.toFixed(1)} ms, ${ending}`);
  return (
    <figure class="timeline">
      <figcaption>
        How the <Visible text={name} /> answer came: {plural(total, 'event')}
        {events.length < total && `, of which ${events.length} are drawn`}, <Visible text={ending} /> after {endedMs.toFixed(1)} ms
        {finishReasons.length > 0 && visibleText(` · finish reason ${finishReasons.join(', ')}`)}
        {everywhere.length > 0 && ` · ${everywhere.join(' and ')} on every event`}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={told}>
        <line class="axis" x1={LEFT} x2={WIDTH - RIGHT} y1={axis} y2={axis} />
        {ticks(last).map((ms) => (
          <g key={ms} class="tick">
            <line x1={x(ms)} x2={x(ms)} y1={axis} y2={axis + 4} />
            <text x={x(ms)} y={axis + 17} text-anchor="middle">
              {ms} ms
            </text>
          </g>
        ))}
        {events.map((event, i) => (
          <g key={i} class={kindOf(event)}>
            <title>{describe(event, i)}</title>
            <line x1={x(event.atMs)} x2={x(event.atMs)} y1={axis} y2={axis - barOf(event)} />
          </g>
        ))}
        {marks.map(({ flag, x: at, row }, i) => (
          <text key={i} x={at} y={axis - BARS - row * ROW} text-anchor="middle" class={`flag ${flag}`}>
            {MARKS[flag]?.glyph}
          </text>
        ))}
        <g class={`ending ${ending}`}>
          <title>{visibleText(`ended (${ending}) after ${endedMs.toFixed(1)} ms`)}</title>
          <line x1={x(endedMs)} x2={x(endedMs)} y1={axis - 24} y2={axis + 6} />
        </g>
      </svg>
      <p class="legend">
        <span class="data">┃</span> event with data <span class="empty">╻</span> event without
        {shown.map((flag) => (
          <span key={flag}>
            {' '}
            <b class={`flag ${flag}`}>{MARKS[flag]?.glyph}</b> {MARKS[flag]?.says}
          </span>
        ))}{' '}
        <span class={`end-mark ${ending}`}>│</span> the exchange ended: <Visible text={ending} />
      </p>
      {errors.map(({ code, message }, i) => (
        <p key={i} class="error-line">
          <code>
            <Visible text={code} />
          </code>{' '}
          <Visible text={message} />
        </p>
      ))}
    </figure>
  );
}

interface Mark {
  readonly flag: string;
  readonly x: number;
  readonly row: number;
}

/** Each mark above its event, in the lowest row where it covers no other. */
function placed(events: readonly Event[], shown: readonly string[], x: (ms: number) => number): readonly Mark[] {
  const ends: number[] = [];
  return events.flatMap((event) =>
    shown
      .filter((flag) => event.flags.includes(flag))
      .map((flag) => {
        const at = x(event.atMs);
        const free = ends.findIndex((end) => end <= at);
        const row = free < 0 ? ends.length : free;
        ends[row] = at + ROW;
        return { flag, x: at, row };
      }),
  );
}

function kindOf({ flags, text, ids }: Event): string {
  if (flags.includes('error')) return 'event error';
  return text !== undefined || ids !== undefined ? 'event data' : 'event empty';
}

/** Longer for more text or ids, so that a lump of several tokens shows. */
function barOf({ text = '', ids = [] }: Event): number {
  const size = Math.max(text.length / 4, ids.length);
  return size === 0 ? 7 : Math.min(26, 10 + 4 * size);
}

function describe({ atMs, flags, text, ids }: Event, i: number): string {
  const what = [text === undefined ? '' : JSON.stringify(text), ids === undefined ? '' : `ids ${ids.join(', ')}`].filter(
    (part) => part !== '',
  );
  return visibleText(`event ${i} at ${atMs.toFixed(1)} ms: ${[...what, flags.join(', ')].join(' · ')}`);
}

/** Round numbers, at most eight of them. */
function ticks(last: number): number[] {
  const rough = last / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => Number((i * step).toPrecision(3)));
}
