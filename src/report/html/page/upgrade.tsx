/** Two sides and one verdict: what to read before signing, and the evidence behind it. */
import type { JSX } from 'preact';
import { formatBound } from '#core/stats/format-bound.ts';
import type { UpgradeView } from '../page-data.ts';
import { AnswersPart } from './answers-part.tsx';
import { ContractPart } from './contract-part.tsx';
import { plural, when } from './format.ts';
import { LawsPart } from './laws-part.tsx';
import { type Section, Sections } from './sections.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';
import { Visible } from './visible.tsx';

const SIGNS = { SAFE: '✓', REVIEW: '?', UNSAFE: '✗' };
/** The outcome of a run whose colours the verdict takes. */
const LOOKS = { SAFE: 'held', REVIEW: 'broken', UNSAFE: 'failed' };
const SAYS = {
  SAFE: 'Nothing is left to decide.',
  REVIEW: 'Somebody has to read the list below, and may then sign.',
  UNSAFE: 'Do not ship this.',
};

export function UpgradePage({ upgrade }: { readonly upgrade: UpgradeView }): JSX.Element {
  const { contract, answers, runs, findings } = upgrade;
  const sections: readonly (Section | false)[] = [
    { id: 'findings', title: 'Why', body: <Findings findings={findings} /> },
    { id: 'glance', title: 'At a glance', body: <Glance upgrade={upgrade} /> },
    contract !== undefined && { id: 'contract', title: 'Contract', body: <ContractPart contract={contract} /> },
    answers !== undefined && { id: 'answers', title: 'Answers', body: <AnswersPart answers={answers} /> },
    runs !== undefined && { id: 'laws', title: 'Laws and known gaps', body: <LawsPart runs={runs} /> },
    { id: 'sides', title: 'The sides', body: <Sides upgrade={upgrade} /> },
  ];
  return (
    <Sections
      head={<Head upgrade={upgrade} />}
      sections={sections.filter((one) => one !== false)}
      foot={`made by Lockstep from the JSON of an upgrade, schema ${upgrade.schema}`}
    />
  );
}

function Head({ upgrade: { verdict, from, to, at, contract, answers, runs } }: { readonly upgrade: UpgradeView }): JSX.Element {
  const of = (kind: string) => contract?.differences.filter((one) => one.kind === kind).length ?? 0;
  return (
    <header class={`verdict ${LOOKS[verdict]}`}>
      <p class="brand">Lockstep upgrade</p>
      <h1>
        <span class="mark" aria-hidden="true">
          {SIGNS[verdict]}
        </span>{' '}
        {verdict}: <Visible text={`${from.name} → ${to.name}`} />
      </h1>
      <p class="subject">
        {SAYS[verdict]} · {when(at)}
      </p>
      <ul class="tiles">
        {answers !== undefined && (
          <Tile
            href="#answers"
            kind={answers.across.k > 0 ? 'warn' : 'good'}
            n={answers.across.k}
            word={`of ${answers.across.n} answers differ`}
          />
        )}
        {runs !== undefined && (
          <Tile href="#laws" kind={runs.newlyBroken.length > 0 ? 'bad' : 'good'} n={runs.newlyBroken.length} word="claims got worse" />
        )}
        {contract !== undefined && (
          <>
            <Tile href="#contract" kind={of('breaking') > 0 ? 'bad' : 'good'} n={of('breaking')} word="breaking" />
            <Tile href="#contract" kind="" n={of('behaviour')} word="behaviour" />
            <Tile href="#contract" kind="" n={of('addition')} word={of('addition') === 1 ? 'addition' : 'additions'} />
          </>
        )}
      </ul>
    </header>
  );
}

function Findings({ findings }: { readonly findings: UpgradeView['findings'] }): JSX.Element {
  if (findings.length === 0) return <p>Nothing differs, and everything was compared.</p>;
  return (
    <ul class="findings">
      {findings.map(({ weight, text }, i) => (
        <li key={i} class={weight}>
          <b>{weight}</b> <Visible text={text} />
        </li>
      ))}
    </ul>
  );
}

function Glance({ upgrade: { speed, answers, from, to, tests } }: { readonly upgrade: UpgradeView }): JSX.Element {
  const two = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));
  const claims = ({ counts }: UpgradeView['from']) =>
    counts === undefined ? 'not run' : `${counts.held} held, ${counts.failed} failed, ${counts.notServed} not served`;
  const own = (side: 'from' | 'to') => {
    const of = answers?.[side];
    return of === undefined || of.n === 0 ? 'not asked' : `${of.k} of ${of.n} (≤ ${formatBound(of.bound)})`;
  };
  const rows = [
    ['claims', claims(from), claims(to), ''],
    ['answers unlike its own', own('from'), own('to'), ''],
    ...speed.map(({ what, unit, before, after, ratio, verdict }) => [
      what,
      `${two(before)} ${unit}`,
      `${two(after)} ${unit}`,
      ratio === undefined ? 'too few requests' : `× ${two(ratio.median)} (${two(ratio.low)} to ${two(ratio.high)}), ${verdict}`,
    ]),
  ];
  return (
    <>
      <Table label="At a glance" head={['', from.name, to.name, 'new / old']} rows={rows} />
      {speed.length > 0 && (
        <p class="legend">Times are of one request at a time, one side after the other, paired by request: a look, not a benchmark.</p>
      )}
      {tests.length > 0 && <p class="legend">{tests.map(({ what, p }) => `${what}: p = ${p.toPrecision(2)}`).join(' · ')} (after Holm)</p>}
    </>
  );
}

function Sides({ upgrade: { identity, from, to } }: { readonly upgrade: UpgradeView }): JSX.Element {
  const missing = [from, to].flatMap(({ name, missing: parts }) => parts.map(({ part, why }) => [name, part, why]));
  return (
    <>
      <p>
        {when(from.recordedAt)} and {when(to.recordedAt)} · {plural(identity.same.length, 'fact')} alike
        {identity.untold.length > 0 && <>, {identity.untold.length} told by one side alone</>}
      </p>
      {identity.differing.length > 0 && (
        <Table
          label="What differs between the sides"
          head={['', from.name, to.name]}
          rows={identity.differing.map(({ key, a, b }) => [key, a, b])}
        />
      )}
      {missing.length > 0 && <Table label="What could not be recorded" head={['side', 'part', 'why']} rows={missing} />}
    </>
  );
}
