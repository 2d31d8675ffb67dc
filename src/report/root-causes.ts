/** What failed, by what seems to be one cause. */
import { claimKey } from './claim-name.ts';
import type { JsonReport } from './json-schema.ts';

type JsonClaim = JsonReport['claims'][number];
export type JsonFailure = JsonClaim['failures'][number];

export interface CauseMember {
  readonly claim: JsonClaim;
  readonly failure: JsonFailure;
}

export interface RootCause {
  readonly key: string;
  /** What all of them have in common, as a phrase. */
  readonly title: string;
  readonly laws: readonly string[];
  readonly claims: readonly string[];
  readonly routes: readonly string[];
  readonly members: readonly CauseMember[];
}

/** How an answer begins to differ, where that alone names a defect. */
const TELLING: Readonly<Record<string, string>> = {
  'replacement-character': 'a character that is split over tokens came out as U+FFFD',
  'repeated-piece': 'the last piece came once more',
};

/** How an answer begins to differ, where it says something beside the broken law. */
const WAYS: Readonly<Record<string, string>> = { 'ends-early': 'the answer ends early', 'goes-on': 'the answer goes on behind its end' };

/**
 * Failures with the same law and code whose answers part in the same way are one cause; where the way alone names the
 * defect (a broken character, a piece twice) law and code do not matter. The largest first.
 */
export function rootCauses(claims: readonly JsonClaim[]): readonly RootCause[] {
  const groups = new Map<string, CauseMember[]>();
  for (const claim of claims) {
    if (claim.status !== 'failed') continue;
    for (const failure of claim.failures) {
      const way = wayOf(failure);
      const key = way in TELLING ? way : [failure.law, failure.code, way].join(' ');
      const members = groups.get(key);
      if (members === undefined) groups.set(key, [{ claim, failure }]);
      else members.push({ claim, failure });
    }
  }
  const causes = [...groups].map(([key, members]) => causeOf(key, members));
  return causes.sort((a, b) => b.claims.length - a.claims.length || b.members.length - a.members.length || (a.key < b.key ? -1 : 1));
}

function causeOf(key: string, members: readonly CauseMember[]): RootCause {
  const laws = distinct(members.map(({ failure }) => failure.law).filter((law) => law !== ''));
  const failure = members[0]?.failure;
  const way = failure === undefined ? '' : wayOf(failure);
  const words = [failure?.law === '' ? '' : failure?.law, failure?.code === failure?.law ? '' : failure?.code, WAYS[way]];
  return {
    key,
    title: TELLING[key] ?? words.filter((word) => word !== undefined && word !== '').join(' · '),
    laws,
    claims: distinct(members.map(({ claim }) => claimKey(claim.suite, claim.id))),
    routes: distinct(members.flatMap(({ failure: { case: c } }) => (c === undefined ? [] : [c.route]))),
    members,
  };
}

function wayOf({ answers }: JsonFailure): string {
  const [accepted, observed] = answers ?? [];
  if (accepted === undefined || observed === undefined) return '';
  const piece = observed.pieces[observed.at];
  const expected = accepted.pieces[accepted.at];
  if (piece === undefined) return expected === undefined ? '' : 'ends-early';
  if (piece.text.includes('\ufffd')) return 'replacement-character';
  const before = observed.pieces[observed.at - 1];
  const repeats = before !== undefined && before.text === piece.text && before.id === piece.id && before.bytes === piece.bytes;
  if (repeats && (expected?.text !== piece.text || expected.id !== piece.id)) return 'repeated-piece';
  return expected === undefined ? 'goes-on' : '';
}

function distinct(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
