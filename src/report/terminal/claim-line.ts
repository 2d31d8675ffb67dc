/** One line per claim, in columns: mark, suite, claim, time, evidence; what is claimed fills the rest. */
import type { ClaimResult } from '#checks/lab/result.ts';
import { formatDuration } from './duration.ts';
import { formatEvidence } from './evidence.ts';
import type { Canvas } from './style.ts';
import { cellWidth, padEnd, padStart, truncate } from './width.ts';

const SUITE_CELLS = 11;
const CLAIM_CELLS = 29;
const TIME_CELLS = 6;
/** Most evidence is shorter; longer evidence moves the statement only. */
const EVIDENCE_CELLS = 48;
/** A shorter piece of the statement says nothing. */
const LEAST_STATEMENT_CELLS = 24;

/** `repeated`: the line above is of the same suite, so its name is only a shadow. A ~ says that known gaps were met. */
export function renderClaimLine(claim: ClaimResult, canvas: Canvas, repeated = false): string {
  const { style } = canvas;
  const paint = claim.status === 'failed' ? style.bad : claim.status === 'not-served' ? style.dim : (text: string) => text;
  const left = [
    mark(claim, canvas),
    (repeated ? style.dim : style.bold)(padEnd(claim.suite, SUITE_CELLS)),
    paint(padEnd(shortId(claim), CLAIM_CELLS)),
    style.dim(padStart(formatDuration(claim.durationMs), TIME_CELLS)),
    claim.gaps.some((gap) => gap.met > 0) ? style.warn('~') : ' ',
    paint(padEnd(formatEvidence(claim), EVIDENCE_CELLS)),
  ].join(' ');
  const room = canvas.columns - cellWidth(left) - 3;
  return room < LEAST_STATEMENT_CELLS ? left.trimEnd() : `${left} ${style.dim(`· ${truncate(claim.statement, room)}`)}`;
}

/** The suite stands in its own column already. */
function shortId(claim: ClaimResult): string {
  return claim.id.startsWith(`${claim.suite}/`) ? claim.id.slice(claim.suite.length + 1) : claim.id;
}

function mark(claim: ClaimResult, { style }: Canvas): string {
  if (claim.status === 'failed') return style.bad('✗');
  return claim.status === 'held' ? style.good('✓') : style.dim('○');
}
