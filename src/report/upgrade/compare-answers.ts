import type { AnsweredRequest, AnswersRecord, Forced } from '#checks/answers/index.ts';
import { type Comparison, type Verdict, VERDICTS, compareIds, firstDivergence } from '#checks/compare/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import {
  FLOAT32_RESOLUTION,
  type LogRank,
  benjaminiHochberg,
  clopperPearsonUpper,
  hazardBound,
  logRank,
  rankSumLower,
  type Watched,
} from '#core/stats/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** First divergences among sequences. */
export interface Divergences {
  readonly k: number;
  readonly n: number;
  /** Upper 95 % bound on the rate per answer. */
  readonly bound: number;
  /** Tokens compared, each answer up to its first divergence. */
  readonly tokens: number;
  /** Upper 95 % bound on the rate per token. */
  readonly perToken: number;
}

export interface AnswerDifference {
  readonly request: string;
  readonly prompt: string;
  readonly verdict: Verdict;
  /** One sentence: where, what, by which margin. */
  readonly text: string;
  readonly before: Pick<Answer, 'ids' | 'text' | 'finish'>;
  readonly after: Pick<Answer, 'ids' | 'text' | 'finish'>;
  readonly token: number | undefined;
  readonly marginBefore: number | undefined;
  readonly marginAfter: number | undefined;
}

export interface AnswersComparison {
  readonly from: Divergences;
  readonly to: Divergences;
  readonly across: Divergences;
  /** Across against within the old side, by prompt. */
  readonly logRank: LogRank;
  /** How far log-probabilities of the same token moved where all tokens before were equal, in nats. */
  readonly shift:
    | { readonly positions: number; readonly largest: number; readonly quantile99: number; readonly quantile99Bound: number }
    | undefined;
  /** The chance that flips sit at margins this low if they sat anywhere; undefined without flips with margins. */
  readonly flipsAtLowMargins: number | undefined;
  /** Behind first differences: positions looked at and flips, and how many no margin explains. */
  readonly forced: { readonly positions: number; readonly flips: number; readonly unexplained: number; readonly bound: number } | undefined;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly differences: readonly AnswerDifference[];
  /** Kinds of prompts whose answers differ, with the share of false ones among those listed below it (Benjamini-Hochberg). */
  readonly kinds: readonly { readonly kind: string; readonly k: number; readonly n: number; readonly q: number }[];
  /** Why margins explain nothing here: log-probabilities moved further than the policy allows for rounding. */
  readonly moved: boolean;
}

const QUANTILE = 0.99;

/**
 * Old answers against new ones, request by request. A difference is explained where it is a flip to the old runner-up at a margin below twice
 * what log-probabilities moved at equal positions, and where that move itself is within `maxShift` nats: a model that is another
 * one moves everything, and would explain any flip (docs/statistics.md#upgrades).
 */
export function compareAnswers(
  from: AnswersRecord,
  to: AnswersRecord,
  options: { readonly tokenizer: Tokenizer; readonly maxShift: number; readonly forced?: Forced | undefined },
): AnswersComparison {
  const others = new Map(to.items.map((item) => [item.request.id, item]));
  const pairs = from.items.flatMap((item) => {
    const other = others.get(item.request.id);
    return other === undefined ? [] : [[item, other] as const];
  });
  const shift = from.margins && to.margins ? shiftOf(pairs) : undefined;
  const moved = shift !== undefined && shift.quantile99Bound > options.maxShift;
  // Without a measured move there is nothing that margins could be held against.
  const usable = shift === undefined ? (answer: Answer): Answer => ({ ...answer, margins: [], runnerUps: [] }) : (answer: Answer) => answer;
  const noise = { e: moved ? FLOAT32_RESOLUTION : (shift?.largest ?? FLOAT32_RESOLUTION), positions: shift?.positions ?? 0 };
  const judged = pairs.map(([a, b]) => {
    const comparison = compareIds(
      usable(a.answer),
      { ids: b.answer.ids, finish: b.answer.finish },
      { tokenizer: options.tokenizer, noise },
    );
    return { a, b, comparison };
  });
  const differing = judged.filter(({ comparison }) => comparison.verdict !== 'identical');
  return {
    from: within(from.items),
    to: within(to.items),
    across: count(pairs.map(([a, b]) => watched(a.answer.ids, b.answer.ids, true))),
    logRank: logRank(pairs.map(([a, b]) => stratum(a, b))),
    shift,
    flipsAtLowMargins: shift === undefined ? undefined : atLowMargins(differing),
    forced: forcedOf(options.forced, shift === undefined ? undefined : 2 * noise.e),
    counts: Object.fromEntries(VERDICTS.map((v) => [v, judged.filter(({ comparison }) => comparison.verdict === v).length])) as Record<
      Verdict,
      number
    >,
    differences: differing.map(({ a, b, comparison }) => difference(a, b, comparison)),
    kinds: kindsOf(pairs),
    moved,
  };
}

type Pair = readonly [AnsweredRequest, AnsweredRequest];

function watched(a: readonly number[], b: readonly number[], treated: boolean): Watched {
  const at = firstDivergence(a, b);
  return at < 0 ? { time: Math.min(a.length, b.length), event: false, treated } : { time: at + 1, event: true, treated };
}

function count(all: readonly Watched[]): Divergences {
  const [k, n] = [all.filter(({ event }) => event).length, all.length];
  const tokens = all.reduce((sum, { time }) => sum + time, 0);
  return { k, n, bound: clopperPearsonUpper(k, n), tokens, perToken: hazardBound(k, tokens) };
}

function within(items: readonly AnsweredRequest[]): Divergences {
  return count(items.flatMap(({ answer, repeats }) => repeats.map((repeat) => watched(answer.ids, repeat.ids, false))));
}

/** One prompt: new answers, and repeats of the old one, all against the old one. */
function stratum(a: AnsweredRequest, b: AnsweredRequest): readonly Watched[] {
  return [
    ...a.repeats.map(({ ids }) => watched(a.answer.ids, ids, false)),
    ...[b.answer.ids, ...b.repeats.map(({ ids }) => ids)].map((ids) => watched(a.answer.ids, ids, true)),
  ];
}

/** At positions where all tokens up to and with it are equal the inputs are, and every change is the new side's arithmetic. */
function shiftOf(pairs: readonly Pair[]): AnswersComparison['shift'] {
  const moves: number[] = [];
  for (const [{ answer: a }, { answer: b }] of pairs) {
    const n = Math.min(a.ids.length, b.ids.length, a.logProbs.length, b.logProbs.length);
    for (let i = 0; i < n && a.ids[i] === b.ids[i]; i++) moves.push(Math.abs(a.logProbs[i]! - b.logProbs[i]!));
  }
  // Greedy log-probabilities are all 0 on several releases, and then say nothing.
  const silent = (side: 0 | 1) => pairs.every((pair) => pair[side].answer.logProbs.every((value) => value === 0));
  if (silent(0) || silent(1)) return undefined;
  moves.sort((a, b) => a - b);
  const n = moves.length;
  const at = (rank: number) => Math.max(FLOAT32_RESOLUTION, moves[Math.min(n - 1, Math.max(0, Math.ceil(rank) - 1))] ?? 0);
  // One-sided 95 % upper limit: an order statistic, by the normal approximation to the binomial; the largest where few were seen.
  const upper = QUANTILE * n + 1.645 * Math.sqrt(n * QUANTILE * (1 - QUANTILE));
  return { positions: n, largest: at(n), quantile99: at(QUANTILE * n), quantile99Bound: at(upper) };
}

function atLowMargins(differing: readonly { readonly a: AnsweredRequest; readonly comparison: Comparison }[]): number | undefined {
  const flips: number[] = [];
  const elsewhere: number[] = [];
  for (const { a, comparison } of differing) {
    const at = comparison.divergence?.token;
    if (at === undefined) continue;
    const margin = a.answer.margins[at];
    if (margin !== undefined) flips.push(margin);
    elsewhere.push(...a.answer.margins.slice(0, at));
  }
  return flips.length === 0 || elsewhere.length === 0 ? undefined : rankSumLower(flips, elsewhere);
}

function forcedOf(forced: Forced | undefined, bound: number | undefined): AnswersComparison['forced'] {
  if (forced === undefined) return undefined;
  const unexplained = forced.flips.filter(
    ({ newId, oldRunnerUp, oldMargin }) => bound === undefined || oldMargin === undefined || oldMargin >= bound || newId !== oldRunnerUp,
  ).length;
  return {
    positions: forced.positions,
    flips: forced.flips.length,
    unexplained,
    bound: clopperPearsonUpper(forced.flips.length, forced.positions),
  };
}

function difference(a: AnsweredRequest, b: AnsweredRequest, { verdict, text, divergence }: Comparison): AnswerDifference {
  const { prompt } = a.request;
  const shown = ({ ids, text: said, finish }: Answer) => ({ ids, text: said, finish });
  const token = divergence?.token;
  return {
    request: a.request.id,
    prompt:
      prompt.kind === 'text'
        ? prompt.text
        : prompt.kind === 'ids'
          ? prompt.ids.join(' ')
          : prompt.messages.map(({ content }) => content).join('\n'),
    verdict,
    text,
    before: shown(a.answer),
    after: shown(b.answer),
    token,
    marginBefore: token === undefined ? undefined : a.answer.margins[token],
    marginAfter: token === undefined ? undefined : b.answer.margins[token],
  };
}

function kindsOf(pairs: readonly Pair[]): AnswersComparison['kinds'] {
  const kinds = [...Map.groupBy(pairs, ([{ kind }]) => kind)].map(([kind, of]) => ({
    kind,
    k: of.filter(([a, b]) => firstDivergence(a.answer.ids, b.answer.ids) >= 0).length,
    n: of.length,
    p: logRank(of.map(([a, b]) => stratum(a, b))).p,
  }));
  const q = benjaminiHochberg(kinds.map(({ p }) => p));
  return kinds
    .map(({ kind, k, n }, i) => ({ kind, k, n, q: q[i]! }))
    .filter(({ k }) => k > 0)
    .toSorted((a, b) => b.k / b.n - a.k / a.n);
}
