import { formatBound } from '#core/stats/index.ts';
import type { AnswersComparison } from './compare-answers.ts';
import type { RunsComparison } from './compare-runs.ts';
import type { SpeedRow } from './compare-speed.ts';
import type { ContractDiff } from './contract/index.ts';
import { type FindingKind, type UpgradePolicy, type Weight, WEIGHTS } from './policy.ts';
import { PARTS, type Side } from './side.ts';

/** One reason for the verdict. */
export interface Finding {
  readonly kind: FindingKind;
  readonly weight: Weight;
  /** One sentence. */
  readonly text: string;
}

export interface Compared {
  readonly contract: ContractDiff | undefined;
  readonly answers: AnswersComparison | undefined;
  readonly runs: RunsComparison | undefined;
  readonly speed: readonly SpeedRow[];
  readonly from: Side;
  readonly to: Side;
}

/** What speaks for and against an upgrade, heaviest first. Nothing is safe by what was not looked at. */
export function findingsOf(compared: Compared, policy: UpgradePolicy): readonly Finding[] {
  const all = [
    ...ofContract(compared),
    ...ofAnswers(compared, policy),
    ...ofRuns(compared),
    ...ofSpeed(compared, policy),
    ...ofMissing(compared),
  ];
  return all
    .map(([kind, text]): Finding => ({ kind, weight: policy.findings[kind], text }))
    .toSorted((a, b) => WEIGHTS.indexOf(b.weight) - WEIGHTS.indexOf(a.weight));
}

type Found = readonly [kind: FindingKind, text: string];

function ofContract({ contract }: Compared): readonly Found[] {
  if (contract === undefined) return [];
  const counted = (kind: FindingKind, of: ContractDiff['differences'], what: string): Found[] =>
    of.length === 0
      ? []
      : [
          [
            kind,
            `${many(of.length, what)} of the contract: ${of
              .map(({ title }) => title)
              .slice(0, 3)
              .join('; ')}${of.length > 3 ? '; …' : ''}`,
          ],
        ];
  const of = (kind: string) => contract.differences.filter((one) => one.kind === kind && !one.fatal);
  return [
    ...contract.differences.filter(({ fatal }) => fatal).map((one): Found => ['contract-fatal', hits(one)]),
    ...of('breaking').map((one): Found => ['contract-breaking', hits(one)]),
    ...counted('contract-behaviour', of('behaviour'), 'change of behaviour'),
    ...counted('contract-addition', of('addition'), 'addition'),
  ];
}

/** A difference with whom it hits, and since when it is known where it is. */
function hits({ title, who, known }: ContractDiff['differences'][number]): string {
  const since = [...new Set(known.map((row) => row.slice(0, row.indexOf(':'))))].join(', ');
  return `${title}. Hits ${who}${since === '' ? '' : ` (known, since ${since})`}`;
}

function ofAnswers({ answers }: Compared, { limits }: UpgradePolicy): readonly Found[] {
  if (answers === undefined) return [];
  const { from, to, across, counts, shift, flipsAtLowMargins, forced } = answers;
  const found: Found[] = [];
  if (from.k > 0) found.push(['old-disagrees-with-itself', `the old side did not repeat ${from.k} of ${from.n} of its own answers`]);
  if (to.k > 0) found.push(['new-disagrees-with-itself', `the new side did not repeat ${to.k} of ${to.n} of its own answers`]);
  const rate = `${across.k} of ${across.n} answers differ (≤ ${formatBound(across.bound)})`;
  const wrong = counts.unexplained + counts.structural + counts.contaminated;
  const flips = counts.tie + counts['near-tie'] + counts.unexplained;
  if (answers.moved) {
    found.push([
      'answers-wrong',
      `another model: log-probabilities of equal positions moved by up to ${nats(shift!.quantile99Bound)} (99 %; rounding is ${nats(limits.maxShiftNats)} at most), and ${rate}`,
    ]);
  } else if (wrong > 0) {
    found.push(['answers-wrong', `${many(wrong, 'answer')} differ in a way that no margin explains: ${rate}`]);
  } else if (forced !== undefined && forced.unexplained > 0 && shift !== undefined) {
    found.push([
      'answers-wrong',
      `led along the old answers, the new side leaves them at ${forced.unexplained} of ${forced.positions} positions where no margin explains it`,
    ]);
  } else if (flips >= limits.flipsToJudgeMargins && flipsAtLowMargins !== undefined && flipsAtLowMargins > 0.05) {
    found.push([
      'answers-wrong',
      `the ${flips} flips do not sit at low margins, as rounding would have them (p = ${flipsAtLowMargins.toFixed(2)})`,
    ]);
  } else if (counts.tie + counts['near-tie'] > 0) {
    found.push([
      'answers-explained',
      `different, but explained by margins: ${rate}; log-probabilities of equal positions moved by up to ${nats(shift!.quantile99Bound)} (99 %)`,
    ]);
  }
  if (counts.unjudged > 0)
    found.push(['answers-unjudged', `${many(counts.unjudged, 'difference')} cannot be judged: no usable margins on both sides; ${rate}`]);
  return found;
}

function ofRuns({ runs }: Compared): readonly Found[] {
  if (runs === undefined) return [];
  const claims = (kind: FindingKind, of: RunsComparison['newlyBroken'], verb: string): Found[] =>
    of.map(({ id, text }) => [kind, `claim ${id} ${verb}${text === '' ? '' : `: ${firstLine(text)}`}`]);
  const gaps = (kind: FindingKind, of: RunsComparison['gaps']['new'], verb: string): Found[] =>
    of.length === 0 ? [] : [[kind, `${many(of.length, 'known gap')} ${verb}: ${of.map(({ id }) => id).join(', ')}`]];
  return [
    ...claims('law-newly-broken', runs.newlyBroken, 'fails now'),
    ...claims('law-still-broken', runs.stillBroken, 'fails on both sides'),
    ...claims('law-mended', runs.mended, 'holds now; it failed'),
    ...claims('claim-not-served-any-more', runs.notServedAnyMore, 'cannot be asked any more'),
    ...claims('claim-newly-served', runs.newlyServed, 'can be asked now, and holds'),
    ...gaps('gap-new', runs.gaps.new, 'met on the new side alone'),
    ...gaps('gap-fixed', runs.gaps.fixed, 'met on the old side alone'),
    ...gaps('gap-still', runs.gaps.still, 'met on both sides'),
  ];
}

function ofSpeed({ speed }: Compared, { limits }: UpgradePolicy): readonly Found[] {
  return speed.flatMap(({ what, ratio, verdict }): Found[] => {
    const said = ratio === undefined ? 'too few requests' : `× ${two(ratio.median)} (${two(ratio.low)} to ${two(ratio.high)})`;
    if (verdict === 'slower') return [['slower', `${what} ${said}: beyond a factor of ${limits.maxSlowdown}`]];
    return verdict === 'not shown'
      ? [['speed-not-shown', `${what} ${said}: neither within a factor of ${limits.maxSlowdown} nor beyond it is shown`]]
      : [];
  });
}

/** What one side has not cannot be compared. */
function ofMissing({ from, to }: Compared): readonly Found[] {
  const lacks = PARTS.flatMap((part): Found[] =>
    [
      { side: 'old', of: from },
      { side: 'new', of: to },
    ].flatMap(({ side, of }): Found[] => {
      const why =
        of.missing.find((one) => one.part === part)?.why ??
        (part === 'answers' && of.answers?.items.length === 0
          ? of.answers.notServed
          : of[part] === undefined
            ? 'it was not recorded'
            : undefined);
      return why === undefined ? [] : [['not-compared', `${NAMES[part]}: the ${side} side has none, ${why}`]];
    }),
  );
  return lacks;
}

const NAMES = { contract: 'contract', answers: 'answers', run: 'laws and known gaps' };

const many = (n: number, what: string): string =>
  `${n} ${what}${n === 1 ? '' : 's'}`.replace(/^(\d+) change of behaviours/, '$1 changes of behaviour');
const firstLine = (text: string): string => text.split('\n')[0]!.slice(0, 200);
const nats = (value: number): string => `${value.toPrecision(2)} nats`;
export const two = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));
