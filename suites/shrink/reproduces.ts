/** A fault from the failing case that the suite finds to scripts that reproduce it, and do not on a server without it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '#checks/lab/claim.ts';
import { fixtureOf } from '#checks/lab/fixtures.ts';
import { structural } from '#checks/lab/outcome.ts';
import type { Failure } from '#checks/lab/result.ts';
import { type Shrunk, Stage, shrink } from '#checks/shrink/index.ts';
import { rightPromptIds } from '#checks/laws/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Fault } from '#embedded/faults/index.ts';
import { surroundingsOf, writeBundle } from '#report/bundle/index.ts';
import { clientEnvironment } from '#targets/clients/index.ts';
import type { Endpoints } from '#targets/types.ts';
import { benchFor, configOf, findFailing, serverFor } from './failing-cases.ts';
import { BUDGET, LARGER_BUDGETS } from './faults.ts';
import { type Said, runScript } from './run-script.ts';

/** README and scripts are read by people who do not know this machine. */
const NOWHERE = /\/(root|home|tmp|work)\//;

interface Made {
  readonly shrunk: Shrunk;
  readonly folder: string;
  readonly sizes: string;
}

export async function reproduces(fault: Fault, folder: string, signal: AbortSignal): Promise<Outcome> {
  const { shrunk, folder: bundle, sizes } = await made(fault, folder, signal);
  const failures: Failure[] = [];
  const { law } = shrunk.smallest.violation;
  const fail = (code: string, text: string) => failures.push({ law, code, text });
  if (!['minimal', 'budget'].includes(shrunk.ended) || shrunk.after.k === 0)
    fail(
      'not-shrunk',
      `the search ended by ${shrunk.ended}, ${shrunk.note ?? ''} and the smallest case fails in ${shrunk.after.k} of ${shrunk.after.n} tries`,
    );
  for (const file of ['README.md', 'reproduce.py', 'case.fixture', 'answers.json', 'identity.json']) {
    if (!existsSync(join(bundle, file))) fail('file-missing', `the bundle has no ${file}`);
    else if (NOWHERE.test(readFileSync(join(bundle, file), 'utf8'))) fail('local-path', `${file} names a place of this machine`);
  }
  let scripts = 0;
  for (const [faults, code] of [
    [[fault.id], 1],
    [[], 0],
  ] as const) {
    for (const script of ['reproduce.py', 'request.sh'].filter((name) => existsSync(join(bundle, name)))) {
      // What was asked before may matter, so each gets a server of its own.
      await using server = await serverFor(configOf(fault, faults), undefined);
      const said = await ran(join(bundle, script), server.lab.parts.endpoints, signal);
      scripts++;
      if (said.code !== code)
        fail(
          code === 1 ? 'does-not-reproduce' : 'reproduces-without',
          `${script} on a server ${code === 1 ? 'with' : 'without'} the fault ended with ${said.code}: ${said.text.slice(-600)}`,
        );
    }
  }
  return structural(scripts, 'script runs', failures, { notes: [sizes] });
}

async function made(fault: Fault, folder: string, signal: AbortSignal): Promise<Made> {
  const { failing } = await findFailing(fault, folder, signal);
  await using bench = await benchFor(configOf(fault, [fault.id]));
  const stage = new Stage(bench, { budget: LARGER_BUDGETS[fault.id] ?? BUDGET, signal, keep: folder });
  const before = await surroundingsOf(stage.lab);
  const shrunk = await shrink(failing, stage);
  const after = await surroundingsOf(stage.lab);
  const { smallest, sighting } = shrunk;
  const { company, violation } = smallest;
  const fixture = sighting.transcript && fixtureOf(stage.lab, sighting.transcript, { company, violation, truth: sighting.truth });
  if (fixture === undefined) throw new LockstepError('no-failing-case', `the exchange of ${fault.id} was not kept`);
  const bundle = join(folder, `${fault.id}-bundle`);
  writeBundle(bundle, { lab: stage.lab, failing: smallest, sighting, tries: shrunk.after, fixture, before, after, log: [] });
  return { shrunk, folder: bundle, sizes: sizesOf(shrunk, stage) };
}

/** Before → after. */
function sizesOf({ first, smallest, requests }: Shrunk, { lab }: Stage): string {
  const arrow = (of: (failing: typeof first) => number) => `${of(first)} → ${of(smallest)}`;
  const tokens = arrow(({ case: { request } }) => rightPromptIds(lab.tokenizer, request).length);
  const limit = arrow(({ case: c }) => c.request.limits.maxTokens);
  const parameters = arrow(
    ({ case: { request }, asked }) => Object.keys(request.limits).length + Object.keys(request.sampling).length + Object.keys(asked).length,
  );
  const company = arrow(({ company: { before, beside } }) => before.length + beside.length);
  return `prompt tokens ${tokens}, max_tokens ${limit}, parameters ${parameters}, company ${company}, ${requests} requests`;
}

async function ran(script: string, { grpc, http, metrics, openai }: Endpoints, signal: AbortSignal): Promise<Said> {
  const { python } = await clientEnvironment('libraries', signal);
  const front = openai ?? 'http://127.0.0.1:1';
  if (script.endsWith('.sh')) {
    return runScript(['sh', script], { signal, environment: { HTTP: `http://${http}`, OPENAI: front, PYTHON: python } });
  }
  const where = ['--grpc', grpc, '--http', http, '--metrics', metrics ?? '127.0.0.1:1', '--openai', front.replace('http://', '')];
  return runScript([python, script, ...where], { signal });
}
