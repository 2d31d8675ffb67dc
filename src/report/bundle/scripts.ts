/** The two scripts of a bundle: one that asks as the failing client did and judges, and one that asks by curl. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Companion } from '#checks/recording/index.ts';
import type { FailingCase, Tries } from '#checks/shrink/index.ts';
import type { Sent } from './sent.ts';
import type { Symptom } from './symptom.ts';

/** A server that gives no answer in this time is taken to give none. */
const WAIT_S = 20;

/** Looks that an answer which curl has stored can be given. */
const JUDGED_ALONE: readonly string[] = [
  'text',
  'ids',
  'parts',
  'finish',
  'usage',
  'answer',
  'ending',
  'done',
  'role',
  'lengths',
  'empty',
  'log-probs',
];

/** Whether requests meet in a step of the engine is a matter of milliseconds. */
const WITH_NEIGHBOURS = 25;

export interface ScriptParts {
  readonly failing: FailingCase;
  readonly symptom: Symptom;
  readonly request: Sent;
  /** Of the company, in its order. */
  readonly before: readonly Sent[];
  readonly beside: readonly Sent[];
  readonly tries: Tries;
}

/** `reproduce.py`: one file, which needs nothing of this project. */
export function reproduceScript({ failing, symptom, request, before, beside, tries }: ScriptParts): string {
  const amid = (sent: readonly Sent[], company: readonly Companion[]) =>
    sent.map((one, i) => ({ request: one, cancel: company[i]?.asked.cancel ?? null }));
  const value = {
    law: failing.violation.law,
    waitSeconds: WAIT_S,
    tries: Math.max(triesToSee(tries), beside.length > 0 ? WITH_NEIGHBOURS : 1),
    ...symptom,
    request,
    cancel: failing.asked.cancel ?? null,
    before: amid(before, failing.company.before),
    beside: amid(beside, failing.company.beside),
  };
  const title = `${failing.violation.law} (${failing.violation.code}) on ${failing.case.route}, ${failing.case.mode}`;
  return readFileSync(join(import.meta.dirname, 'reproduce.py'), 'utf8')
    .replace('TITLE', () => title)
    .replace('CASE_JSON', () => lines(value));
}

/** A line per member: long lists of ids stay one line each. */
function lines(value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`);
  return `{\n${members.join(',\n')}\n}`;
}

/** So many that a case which fails at this rate is seen to fail with 99 %. */
function triesToSee({ n, k }: Tries): number {
  if (n === 0 || k === 0 || k === n) return 1;
  return Math.ceil(Math.log(0.01) / Math.log(1 - k / n));
}

/**
 * `request.sh`: asks by curl and hands the answer to reproduce.py. Undefined where one request by curl cannot show it: it
 * takes a company, a cancel, or a look at what only gRPC has.
 *
 * @param line the command that asks, with HTTP_BASE and OPENAI_BASE for the base URLs
 */
export function curlScript(line: string | undefined, { failing, symptom }: Pick<ScriptParts, 'failing' | 'symptom'>): string | undefined {
  const { company, asked } = failing;
  const alone = company.before.length + company.beside.length === 0 && asked.cancel === undefined;
  if (line === undefined || !alone || !JUDGED_ALONE.includes(symptom.check)) return undefined;
  const command = line.replace('HTTP_BASE', '"$HTTP"').replace('OPENAI_BASE', '"$OPENAI"');
  return `#!/bin/sh
# Asks by curl, prints the answer, and says whether it shows the symptom: exit code 1 when it does, 0 when not.
# Usage: HTTP=http://localhost:8000 OPENAI=http://localhost:9000 sh request.sh
HTTP=\${HTTP:-http://localhost:8000}
OPENAI=\${OPENAI:-http://localhost:9000}
here=$(cd "$(dirname "$0")" && pwd)
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
${command} --max-time ${WAIT_S} > "$answer"
ended=$?
cat "$answer"
echo
"\${PYTHON:-python3}" "$here/reproduce.py" --judge "$answer" --curl-exit "$ended"
`;
}

/** The command for a request that was sent over HTTP, byte for byte. */
export function curlLine(sent: Sent): string | undefined {
  if (sent.port === 'grpc') return undefined;
  const base = sent.port === 'openai' ? 'OPENAI_BASE' : 'HTTP_BASE';
  return `curl -sN ${base}${sent.path} -H 'content-type: application/json' -d '${sent.body.replaceAll("'", String.raw`'\''`)}'`;
}
