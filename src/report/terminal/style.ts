/** Colours as data: a style either paints or does not, so that renderers never ask. */
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];
type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly accent: Paint;
}

const painter =
  (format: Format): Paint =>
  (text) =>
    text === '' ? '' : styleText(format, text, { validateStream: false });
const same: Paint = (text) => text;

export const PLAIN: Style = { bold: same, dim: same, good: same, bad: same, warn: same, accent: same };

export const COLOURED: Style = {
  bold: painter('bold'),
  dim: painter('dim'),
  good: painter('green'),
  bad: painter('red'),
  warn: painter('yellow'),
  accent: painter('cyan'),
};

export interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Colour on a terminal only; NO_COLOR (any value) and TERM=dumb switch it off, FORCE_COLOR switches it on. */
export function styleFor(output: Output, env: Readonly<Record<string, string | undefined>>): Style {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return PLAIN;
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '' && env['FORCE_COLOR'] !== '0') return COLOURED;
  return output.isTTY === true && env['TERM'] !== 'dumb' ? COLOURED : PLAIN;
}

/** How wide a renderer may draw, and with which colours. */
export interface Canvas {
  readonly style: Style;
  readonly columns: number;
}
