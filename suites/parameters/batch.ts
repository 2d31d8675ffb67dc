import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { baseOf, type Given, LENGTH, type Words } from '#checks/surface/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { Findings } from './findings.ts';
import { unservable } from './unservable.ts';
import { askWith, type Work, workOf } from './work.ts';

const ROUTES: readonly RouteId[] = ['raw', 'ensemble', 'bls'];
const LAW = 'batch-invariance';
const ROWS = 3;

/** Settings that differ from row to row: what one row is asked with must not reach another. */
const SETTINGS: readonly { readonly name: string; readonly rows: readonly Words[] }[] = [
  { name: 'lengths', rows: [{ maxTokens: LENGTH }, { maxTokens: 3 }, { maxTokens: 7 }] },
  {
    name: 'penalties and bias',
    rows: [
      { maxTokens: LENGTH, repetitionPenalty: 1, frequencyPenalty: 0 },
      { maxTokens: LENGTH, repetitionPenalty: 2, frequencyPenalty: 0 },
      { maxTokens: LENGTH, repetitionPenalty: 1, frequencyPenalty: 2 },
    ],
  },
  {
    name: 'draws',
    rows: [1, 2, 3].map((seed) => ({ maxTokens: LENGTH, temperature: 2, topK: seed === 1 ? 1 : 40, topP: 0.9, seed })),
  },
];

/** A request with several prompts against each prompt alone. */
export const batch: Claim = {
  id: 'batch-of-prompts',
  suite: 'parameters',
  statement: 'Every row of a batch gets the answer that it gets alone, by its own settings.',
  routes: ROUTES,
  laws: [LAW],
  async run(lab): Promise<Outcome> {
    const unserved = await unservable(lab, ROUTES);
    if (unserved !== undefined) return unserved;
    if (!lab.parts.decoupled) return notServed('a batch of prompts needs the decoupled policy, by which every row has its own response');
    if (lab.policy.id !== 'exact') return notServed('answers of this target may flip at near ties, so rows are not compared');
    const work = workOf(lab);
    const findings = new Findings(lab, batch.id);
    const routes = lab.served(ROUTES).filter((route) => lab.missingOutput(route, ['batch_index']) === undefined);
    if (routes.length < lab.served(ROUTES).length) findings.note('the ensemble has no batch_index, by which rows are told apart');
    for (const route of routes) for (const setting of SETTINGS) await compare(work, route, setting, findings);
    return findings.outcome('rows');
  },
};

async function compare(work: Work, route: RouteId, { name, rows }: (typeof SETTINGS)[number], findings: Findings): Promise<void> {
  // Of different lengths, so that the shorter ones are padded.
  const subjects = await work.subjects.pick(route, ROWS, 'batch', (s) => s.greedy.length >= 3);
  if (subjects.length < ROWS) return findings.vacuous(LAW, name, route, 'there are not enough prompts');
  const together = await work.asker.ask({
    route,
    rows: subjects.map((prompt, i) => ({ prompt, words: { ...baseOf(route, work), ...rows[i] } })),
  });
  if (together.refusal !== undefined) {
    findings.exercised();
    return findings.fail(LAW, 'refused', name, together.refusal, route);
  }
  for (const [i, subject] of subjects.entries()) {
    const { answers } = await askWith(work, route, subject, rows[i]!);
    const own = together.answers.filter(({ row }) => row === i);
    findings.exercised();
    const [alone, amid] = [answers.map(said), own.map(said)];
    if (alone.join('\0') !== amid.join('\0'))
      findings.fail(
        LAW,
        'row-differs',
        `${name}, row ${i},`,
        `${JSON.stringify(amid)} in the batch, ${JSON.stringify(alone)} alone`,
        route,
        subject,
      );
  }
}

function said({ ids, text }: Given): string {
  return ids === undefined ? text : `[${ids.join(', ')}] ${text}`;
}
