/** uPlot in the page's own colours; drawn anew when the window, the colour scheme or the paper changes. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Colours {
  readonly text: string;
  readonly line: string;
  readonly good: string;
  readonly bad: string;
  readonly accent: string;
  readonly shade: string;
}

export interface ChartProps {
  readonly label: string;
  readonly data: uPlot.AlignedData;
  readonly options: (colours: Colours) => Omit<uPlot.Options, 'width' | 'height'>;
}

const HEIGHT = 260;
/** Of a sheet of A4 between its margins. */
const PAPER_WIDTH = 680;

export function Chart({ label, data, options }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let plot: uPlot | undefined;
    const draw = (width = element.clientWidth) => {
      plot?.destroy();
      plot = new uPlot({ ...options(coloursOf(element)), width: Math.max(320, width), height: HEIGHT }, data, element);
    };
    draw();
    let known = element.clientWidth;
    const sizes = new ResizeObserver(() => {
      if (element.clientWidth === known) return;
      known = element.clientWidth;
      draw();
    });
    sizes.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const onScheme = () => draw();
    const paper = matchMedia('print');
    const onPaper = () => draw(paper.matches ? Math.min(known, PAPER_WIDTH) : known);
    scheme.addEventListener('change', onScheme);
    paper.addEventListener('change', onPaper);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener('change', onScheme);
      paper.removeEventListener('change', onPaper);
      plot?.destroy();
    };
  }, [data, options]);
  return <div class="chart" role="img" aria-label={label} ref={box} />;
}

/** What all charts have alike. */
export function axis(colours: Colours, more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: colours.text,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    ...more,
  };
}

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { text: get('dim'), line: get('line'), good: get('good'), bad: get('bad'), accent: get('accent'), shade: get('shade') };
}
