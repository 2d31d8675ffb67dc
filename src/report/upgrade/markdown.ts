import { formatBound } from '#core/stats/index.ts';
import type { AnswerDifference, AnswersComparison, Divergences } from './compare-answers.ts';
import type { RunsComparison } from './compare-runs.ts';
import { type Finding, two } from './findings.ts';
import type { ContractDiff, Difference } from './contract/index.ts';
import type { Weight } from './policy.ts';
import type { Side } from './side.ts';
import type { Upgrade } from './verdict.ts';

/** Answers and exchanges shown in full; the JSON has all of them. */
const ANSWERS_SHOWN = 8;

/** The summary of an upgrade for a pull request: the verdict, what to read before signing, and the evidence behind it. */
export function upgradeMarkdown(upgrade: Upgrade): string {
  const { from, to } = upgrade;
  return [
    `# ${upgrade.verdict}: ${from.name} → ${to.name}`,
    '',
    lead(upgrade),
    '',
    ...list('Why it is unsafe', upgrade.findings, 'UNSAFE', '- ❌ '),
    ...list('To read before signing', upgrade.findings, 'REVIEW', '- [ ] '),
    ...atAGlance(upgrade),
    ...contractPart(upgrade.contract),
    ...answersPart(upgrade.answers),
    ...lawsPart(upgrade.runs),
    ...list('Good to know', upgrade.findings, 'note', '- '),
    ...footnotes(upgrade),
  ].join('\n');
}

/** What a reader who reads nothing else has to know. */
function lead({ verdict, contract, answers, runs }: Upgrade): string {
  const said = [
    answers === undefined ? 'Answers were not compared.' : answerLead(answers),
    runs === undefined
      ? 'The suite was not run on both sides.'
      : runs.newlyBroken.length === 0
        ? `No claim got worse: ${runs.held} of ${runs.judged} judged on both sides hold on both.`
        : `**${runs.newlyBroken.length} claims fail that held.**`,
    contract === undefined ? 'The contract was not compared.' : contractLead(contract),
  ];
  const todo = {
    SAFE: 'Nothing is left to decide.',
    REVIEW: 'Somebody has to read the list below, and may then sign.',
    UNSAFE: 'Do not ship this.',
  }[verdict];
  return [...said, todo].join(' ');
}

function answerLead({ across, moved, counts, forced }: AnswersComparison): string {
  if (across.k === 0 && !moved) return `All ${across.n} answers are the same, id by id (≤ ${formatBound(across.bound)} differ).`;
  const wrong = counts.unexplained + counts.structural + counts.contaminated;
  const rate = `${across.k} of ${across.n} answers differ (≤ ${formatBound(across.bound)})`;
  if (moved) return `**${rate}, and the numbers behind them moved too far for rounding.**`;
  if (wrong > 0 || (forced?.unexplained ?? 0) > 0) return `**${rate}; ${wrong} of them no margin explains.**`;
  return counts.unjudged > 0 ? `${rate}; ${counts.unjudged} cannot be judged.` : `${rate}, each of them a flip that its margin explains.`;
}

function contractLead({ differences, compared }: ContractDiff): string {
  const of = (kind: string) => differences.filter((one) => one.kind === kind).length;
  const fatal = differences.filter((one) => one.fatal).length;
  if (differences.length === 0) return `The contract is the same in ${compared} exchanges.`;
  return `The contract changed in ${differences.length} ways (${fatal === 0 ? '' : `**${fatal} fatal**, `}${of('breaking') - fatal} breaking, ${of('behaviour')} of behaviour, ${of('addition')} additions; ${compared} exchanges).`;
}

function list(title: string, findings: readonly Finding[], weight: Weight, bullet: string): string[] {
  const of = findings.filter((one) => one.weight === weight);
  return of.length === 0 ? [] : [`## ${title}`, '', ...of.map(({ text }) => `${bullet}${line(text)}`), ''];
}

function atAGlance({ from, to, speed, answers, identity }: Upgrade): string[] {
  const row = (what: string, a: string, b: string, more = '') => `| ${what} | ${a} | ${b} | ${more} |`;
  const counts = ({ run }: Side) =>
    run === undefined ? 'not run' : `${run.counts.held} held, ${run.counts.failed} failed, ${run.counts.notServed} not served`;
  const own = (of: Divergences | undefined) =>
    of === undefined || of.n === 0 ? 'not asked' : `${of.k} of ${of.n} (≤ ${formatBound(of.bound)})`;
  return [
    '## At a glance',
    '',
    `| | old | new | |`,
    '|---|---|---|---|',
    ...identity.differing.filter(({ key }) => !key.startsWith('config of ')).map(({ key, a, b }) => row(key, code(a), code(b))),
    row('claims', counts(from), counts(to)),
    row('answers unlike its own', own(answers?.from), own(answers?.to)),
    ...(answers === undefined
      ? []
      : [
          row(
            'answers unlike the other side',
            '',
            `${answers.across.k} of ${answers.across.n}`,
            `≤ ${formatBound(answers.across.bound)} of answers, ≤ ${formatBound(answers.across.perToken)} of tokens`,
          ),
        ]),
    ...speed.map(({ what, unit, before, after, ratio, verdict }) =>
      row(
        what,
        `${two(before)} ${unit}`,
        `${two(after)} ${unit}`,
        ratio === undefined ? 'too few requests' : `× ${two(ratio.median)} (${two(ratio.low)} to ${two(ratio.high)}), ${verdict}`,
      ),
    ),
    '',
    ...(speed.length === 0
      ? []
      : [
          'Times are of one request at a time, the sides one after the other on this machine, paired by request: a look, not a benchmark.',
          '',
        ]),
  ];
}

/** A comparison of contracts alone, as Markdown. */
export function contractMarkdown(title: string, contract: ContractDiff): string {
  return [`# ${title}`, '', ...contractPart(contract)].join('\n');
}

function contractPart(contract: ContractDiff | undefined): string[] {
  if (contract === undefined || contract.differences.length === 0) return [];
  return [
    '## What clients can see',
    '',
    '| | change | who is hit | exchanges | written down |',
    '|---|---|---|---|---|',
    ...contract.differences.map(
      ({ kind, fatal, title, who, changes, known }) =>
        `| ${fatal ? '**fatal**' : kind} | ${cell(title)} | ${cell(who)} | ${new Set(changes.map(({ probe }) => probe)).size} | ${cell(known.join('; ') || 'no')} |`,
    ),
    '',
    ...contract.differences.flatMap(exchanges),
  ];
}

function exchanges({ title, changes, exchanges: shown }: Difference): string[] {
  const probes = [...new Set(changes.map(({ probe }) => probe))];
  return [
    `<details><summary>${html(title)}</summary>`,
    '',
    `Seen in ${probes.slice(0, 12).map(code).join(', ')}${probes.length > 12 ? `, … ${probes.length} in all` : ''}.`,
    '',
    ...shown.flatMap(({ request, before, after }) => [fence(`${request}\n\n--- before\n${before}\n\n+++ after\n${after}`), '']),
    '</details>',
    '',
  ];
}

function answersPart(answers: AnswersComparison | undefined): string[] {
  if (answers === undefined || (answers.differences.length === 0 && !answers.moved)) return [];
  const { shift, logRank, forced, kinds, flipsAtLowMargins, differences } = answers;
  return [
    '## Answers',
    '',
    `- Against its own repeats the old side is held first: first differences across are ${logRank.observed} where ${logRank.expected.toFixed(1)} would be expected if both sides were alike (log-rank by prompt, χ² = ${logRank.chiSquare.toFixed(1)}, p = ${sayP(logRank.p)}).`,
    shift === undefined
      ? '- No usable log-probabilities on both sides: margins explain nothing here.'
      : `- Log-probabilities of equal positions moved by ${shift.quantile99.toPrecision(2)} nats (99 % of ${shift.positions}; with 95 % confidence at most ${shift.quantile99Bound.toPrecision(2)}), by ${shift.largest.toPrecision(2)} at most. A flip is explained at a margin below twice that.`,
    ...(flipsAtLowMargins === undefined
      ? []
      : [`- Flips sit at lower margins than other tokens of the same answers (rank sum, p = ${sayP(flipsAtLowMargins)}).`]),
    ...(forced === undefined
      ? ['- Behind the first differences nothing was looked at: that needs both sides live, or the new one after the old.']
      : [
          `- Led along the old answers behind each first difference: ${forced.flips} further flips at ${forced.positions} positions (≤ ${formatBound(forced.bound)}), ${forced.unexplained} unexplained.`,
        ]),
    ...(kinds.length === 0
      ? []
      : [`- By kind of prompt: ${kinds.map(({ kind, k, n, q }) => `${kind} ${k}/${n} (q = ${sayP(q)})`).join(', ')}.`]),
    '',
    ...differences.slice(0, ANSWERS_SHOWN).flatMap(answer),
    ...(differences.length > ANSWERS_SHOWN ? [`… and ${differences.length - ANSWERS_SHOWN} more in the JSON.`, ''] : []),
    'Accept or reject the new answers as goldens, case by case: `npx lockstep goldens review FILE`, the JSON of this upgrade.',
    '',
  ];
}

function answer({ request, prompt, verdict, text, before, after }: AnswerDifference): string[] {
  return [`**${line(request)}** (${verdict}): ${line(text)}`, '', fence(`? ${prompt}\n- ${before.text}\n+ ${after.text}`, 'diff'), ''];
}

function lawsPart(runs: RunsComparison | undefined): string[] {
  if (runs === undefined) return [];
  const { gaps } = runs;
  const rows = [
    ...gaps.new.map((gap) => ['new side alone', gap] as const),
    ...gaps.fixed.map((gap) => ['old side alone: fixed, or not met this time', gap] as const),
    ...gaps.still.map((gap) => ['both sides', gap] as const),
  ];
  if (rows.length === 0) return [];
  return [
    '## Known gaps',
    '',
    '| | gap | law | thread |',
    '|---|---|---|---|',
    ...rows.map(([how, { id, law, thread }]) => `| ${how} | ${id} | ${law} | ${cell(thread)} |`),
    '',
  ];
}

function footnotes({ at, tests, contract, from, to }: Upgrade): string[] {
  return [
    '---',
    '',
    `${at}. Old side recorded ${from.recordedAt}, new side ${to.recordedAt}.`,
    ...(tests.length === 0 ? [] : [`Tests, after Holm: ${tests.map(({ what, p }) => `${what}, p = ${sayP(p)}`).join('; ')}.`]),
    ...(contract === undefined
      ? []
      : [
          `${contract.compared} exchanges were made on both sides, each twice; ${contract.varying} facts varied within one side and count for nothing.${
            contract.notCompared.length === 0
              ? ''
              : ` Of one side alone: ${contract.notCompared
                  .map(({ id, why }) => `${id} (${why})`)
                  .slice(0, 5)
                  .join(', ')}${contract.notCompared.length > 5 ? `, … ${contract.notCompared.length} in all` : ''}.`
          }`,
        ]),
    '',
  ];
}

const sayP = (p: number): string => (p < 0.001 ? '< 0.001' : p.toPrecision(2));
/** One line; what a code span holds stays as it is. */
function line(text: string): string {
  const parts = text.replaceAll(/\s*\n\s*/g, ' ').split(/(`[^`]*`)/);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.replaceAll('<', '&lt;'))).join('');
}

const cell = (text: string): string => line(text).replaceAll('|', String.raw`\|`);
const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const code = (text: string): string => `\`${text.replaceAll('`', "'").replaceAll('|', String.raw`\|`)}\``;

/** Whatever is in it, it ends where it should. */
function fence(text: string, language = ''): string {
  const ticks = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${ticks}${language}\n${text}\n${ticks}`;
}
