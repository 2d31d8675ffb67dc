/** Known gaps: those that were met, as a table with their threads; those that are gone, loudly. */
import type { Gap } from '../gaps.ts';
import type { Canvas } from './style.ts';
import { cellWidth, padEnd, padStart } from './width.ts';

export function renderGaps(gaps: readonly Gap[], { style }: Canvas): string {
  if (gaps.length === 0) return '';
  const idCells = Math.max(...gaps.map((gap) => cellWidth(gap.id)));
  const lawCells = Math.max(...gaps.map((gap) => cellWidth(gap.law)));
  const rows = gaps.map(
    (gap) =>
      `  ${style.warn('~')} ${padEnd(gap.id, idCells)}  ${style.dim(padEnd(gap.law, lawCells))}  ${padStart(`${gap.met}×`, 5)}  ${style.dim(gap.thread)}`,
  );
  return [style.bold('known gaps met'), ...rows].join('\n');
}

export function renderGapsGone(gone: readonly { readonly gap: string; readonly claim: string }[], { style }: Canvas): string {
  if (gone.length === 0) return '';
  const rows = gone.map(({ gap, claim }) => style.good(`  ★ ${gap}`) + style.dim(`  exercised by ${claim}, did not show`));
  return [
    style.bold(style.good('KNOWN GAPS GONE: the target does the right thing where its profile says it does not')),
    ...rows,
    '  next: use a newer profile, or take the gap out of this one',
  ].join('\n');
}
