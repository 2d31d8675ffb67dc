/** One line at the bottom of a terminal that says what runs; plain output has none. */
import { nowNs } from '#core/clock/index.ts';
import { formatDuration } from './duration.ts';
import type { Canvas, Output } from './style.ts';
import { truncate } from './width.ts';

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const EVERY_MS = 120;

export interface Sink extends Output {
  write(text: string): unknown;
}

export interface Screen {
  /** Prints whole lines above the progress line. */
  print(text: string): void;
  /** What the progress line says from now on; '' removes it. */
  progress(text: string): void;
  close(): void;
}

export function openScreen(sink: Sink, canvas: Canvas, startNs: number): Screen {
  const live = sink.isTTY === true;
  let words = '';
  let frame = 0;
  let drawn = false;
  const clear = () => {
    if (drawn) sink.write('\r\u001b[2K');
    drawn = false;
  };
  const draw = () => {
    clear();
    if (!live || words === '') return;
    const time = formatDuration((nowNs() - startNs) / 1e6);
    sink.write(canvas.style.dim(truncate(`${FRAMES[frame++ % FRAMES.length] ?? ''} ${words} · ${time}`, canvas.columns - 1)));
    drawn = true;
  };
  const timer = live ? setInterval(draw, EVERY_MS) : undefined;
  timer?.unref();
  return {
    print: (text) => {
      clear();
      sink.write(`${text}\n`);
      draw();
    },
    // Drawn by the timer: hundreds of tests in a second must not flicker.
    progress: (text) => {
      words = text;
    },
    close: () => {
      clearInterval(timer);
      words = '';
      clear();
    },
  };
}
