import { shortHash } from '#core/hash/index.ts';
import type { ContractRecord, Observation } from '#checks/contract/index.ts';
import { knownRows } from './known-changes.ts';
import { type Natured, changesOf, naturesOf } from './nature.ts';
import type { Change, ContractDiff, Difference, SeenTwice } from './types.ts';
import { CHANGE_CLASSES } from './types.ts';

/** As many exchanges as a reader needs to believe it. */
const EXCHANGES = 3;

/** Every difference between two records, worst first; `releases`: of Triton, where both sides tell theirs, to name what is known. */
export function diffContracts(
  before: ContractRecord,
  after: ContractRecord,
  releases?: { readonly from: string; readonly to: string },
): ContractDiff {
  const others = new Map(after.observations.map((observation) => [observation.id, observation]));
  const pairs = before.observations.flatMap((one) => {
    const other = others.get(one.id);
    return other === undefined ? [] : [[one, other] as const];
  });
  const natured = [...appearing(pairs), ...pairs.flatMap(([a, b]) => (isAppearing(pairs, a, b) ? [] : naturesOf(a, b)))];
  const groups = Map.groupBy(natured, ({ nature }) => nature.key);
  const byId = new Map(pairs.map((pair) => [pair[0].id, pair]));
  const differences = [...groups].map(([key, of]): Difference => {
    const { kind, fatal = false, title, who } = of[0]!.nature;
    const changes = of.map(({ change }) => change);
    return {
      id: shortHash(key),
      kind,
      fatal,
      title,
      who,
      changes,
      exchanges: exchangesOf(changes, byId),
      known: knownRows(changes, releases),
    };
  });
  return {
    differences: differences.toSorted(worstFirst),
    compared: pairs.length,
    varying: [...before.observations, ...after.observations].reduce((n, { varying }) => n + Object.keys(varying).length, 0),
    notCompared: notCompared(before, after),
  };
}

function worstFirst(a: Difference, b: Difference): number {
  return (
    Number(b.fatal) - Number(a.fatal) ||
    CHANGE_CLASSES.indexOf(a.kind) - CHANGE_CLASSES.indexOf(b.kind) ||
    b.changes.length - a.changes.length
  );
}

type Pair = readonly [Observation, Observation];

/** The endpoint was not there: every probe of it was refused alike, and some are answered now. */
function isAppearing(pairs: readonly Pair[], a: Observation, b: Observation): boolean {
  if (a.area !== 'generate') return false;
  const all = pairs.filter(([{ area }]) => area === 'generate');
  const first = all[0]?.[0].facts;
  return (
    b.facts['status'] !== undefined &&
    all.every(([{ facts }]) => facts['status'] === first?.['status'] && facts['body'] === first?.['body']) &&
    all.some(([, { facts }]) => facts['status'] === '200')
  );
}

function appearing(pairs: readonly Pair[]): readonly Natured[] {
  const nature = {
    key: 'endpoint generate',
    kind: 'addition',
    title: 'generate and generate_stream are served',
    who: 'nobody; clients may use them now',
  } as const;
  return pairs
    .filter(([a, b]) => isAppearing(pairs, a, b))
    .flatMap(([a, b]) => changesOf(a, b).filter(({ fact }) => fact === 'status'))
    .map((change) => ({ change, nature }));
}

function exchangesOf(changes: readonly Change[], byId: ReadonlyMap<string, Pair>): readonly SeenTwice[] {
  const probes = [...new Set(changes.map(({ probe }) => probe))].slice(0, EXCHANGES);
  return probes.flatMap((probe) => {
    const pair = byId.get(probe);
    if (pair === undefined) return [];
    return [{ request: pair[0].exchange.request, before: pair[0].exchange.reply, after: pair[1].exchange.reply }];
  });
}

function notCompared(before: ContractRecord, after: ContractRecord): ContractDiff['notCompared'] {
  const [a, b] = [before, after].map(({ observations }) => new Set(observations.map(({ id }) => id))) as [Set<string>, Set<string>];
  const why = (record: ContractRecord, id: string) => record.skipped.find((one) => one.id === id)?.why ?? 'it was not asked there';
  return [
    ...[...a].filter((id) => !b.has(id)).map((id) => ({ id, why: `new side: ${why(after, id)}` })),
    ...[...b].filter((id) => !a.has(id)).map((id) => ({ id, why: `old side: ${why(before, id)}` })),
  ];
}
