import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureOf } from '#checks/lab/fixtures.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { viewsOf } from '#checks/lab/views.ts';
import { type Fixture, fixtureText } from '#checks/recording/index.ts';
import { curlOf } from '#checks/routes/index.ts';
import type { FailingCase, Sighting, Tries } from '#checks/shrink/index.ts';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { withoutSecrets } from '#wire/clients/index.ts';
import { readmeOf } from './readme.ts';
import { curlLine, curlScript, reproduceScript } from './scripts.ts';
import { type Sent, sentOf } from './sent.ts';
import type { Surroundings } from './surroundings.ts';
import { statementOf } from './statement.ts';
import { symptomOf } from './symptom.ts';

export interface BundleParts {
  readonly lab: Lab;
  readonly failing: FailingCase;
  readonly sighting: Sighting;
  readonly tries: Tries;
  /** The recorded exchange to be shipped. */
  readonly fixture: Fixture;
  readonly before: Surroundings;
  readonly after: Surroundings;
  /** Last lines of the server's log, where this run has it. */
  readonly log: readonly string[];
}

/** Writes everything that an upstream issue needs into a folder, and gives the names of its files. Errors: `file-not-writable`. */
export function writeBundle(folder: string, parts: BundleParts): readonly string[] {
  const { lab, failing, sighting, tries, fixture, before, after, log } = parts;
  const files = new Map<string, { readonly what: string; readonly content: string }>();
  const add = (name: string, what: string, content: string | undefined) => {
    if (content !== undefined && content !== '') files.set(name, { what, content });
  };
  const json = (value: unknown) => (value === undefined ? undefined : `${JSON.stringify(value, null, 2)}\n`);
  const scripts = scriptsOf(parts);
  add('reproduce.py', 'asks as the failing client did (tritonclient on gRPC) and judges; one file, needs nothing else', scripts.reproduce);
  add('request.sh', 'asks by curl and has reproduce.py judge', scripts.curl);
  add('case.fixture', 'the recorded exchange, message for message; Lockstep replays it', fixtureText(fixture));
  const t = sighting.transcript;
  const cancelAfter =
    failing.asked.cancel !== undefined && 'afterEvents' in failing.asked.cancel ? failing.asked.cancel.afterEvents : undefined;
  const views = t === undefined ? {} : viewsOf(lab, t, { truth: sighting.truth, reference: sighting.reference, cancelAfter });
  add(
    'answers.json',
    'prompt ids, the accepted answer with its margins, what was observed, and how it came',
    json({ case: failing.case, accepted: sighting.truth, ...views }),
  );
  add('identity.json', 'everything of the server that could change an answer', json(lab.parts.identity));
  for (const [name, config] of Object.entries(after.configs ?? before.configs ?? {}))
    add(`configs/${name}.json`, 'as the server loaded it', json(config));
  add('server.log', 'its last lines', log.length === 0 ? undefined : `${log.join('\n')}\n`);
  for (const [when, told] of [
    ['before', before],
    ['after', after],
  ] as const) {
    add(`metrics-${when}.txt`, `the metrics ${when} the tries`, told.metrics);
    add(`statistics-${when}.json`, `the statistics of all models ${when} the tries`, json(told.statistics));
  }
  const configs = [...files.keys()].filter((name) => name.startsWith('configs/'));
  const readme = readmeOf({
    failing,
    sighting,
    tries,
    statement: statementOf(failing.violation.law),
    answers: views.answers ?? [],
    exchanges: views.exchanges ?? [],
    identity: lab.parts.identity,
    commands: scripts.commands,
    files: [
      ...[...files].filter(([name]) => !configs.includes(name)).map(([name, { what }]) => [name, what] as const),
      ...(configs.length > 0 ? [['configs/', 'the configuration of each model as the server loaded it'] as const] : []),
    ],
  });
  add('README.md', 'this', readme);
  for (const [name, { content }] of files) writeFileAtomic(join(folder, name), withoutPlaces(lab, content));
  return [...files.keys()];
}

function scriptsOf({ lab, failing, sighting, tries, fixture }: BundleParts): {
  readonly reproduce?: string;
  readonly curl?: string | undefined;
  readonly commands: readonly string[];
} {
  const symptom = symptomOf(failing, sighting, { tokenizer: lab.tokenizer, tries });
  const request = sentOf(fixture);
  const companions = (sighting.companions ?? []).map((t) => {
    const own = fixtureOf(lab, t, { violation: failing.violation });
    return own === undefined ? undefined : sentOf(own);
  });
  const sent = companions.filter((one): one is Sent => one !== undefined);
  const all = failing.company.before.length + failing.company.beside.length;
  if (symptom === undefined || request === undefined || sent.length !== all) return { commands: [] };
  const before = sent.slice(0, failing.company.before.length);
  const beside = sent.slice(failing.company.before.length);
  const line = curlLine(request) ?? curlOf(failing.case, lab, { http: 'HTTP_BASE', openai: 'OPENAI_BASE' });
  const curl = curlScript(line, { failing, symptom });
  const ports = [...new Set([request, ...sent].map(({ port }) => port))];
  if (symptom.check === 'held' || symptom.check === 'ran-on') return given(ports, ['metrics']);
  return given(ports, symptom.check === 'dead' ? ['http'] : []);

  function given(asked: readonly string[], more: readonly string[]) {
    const names = [...new Set([...asked, ...more])];
    const defaults: Readonly<Record<string, number>> = { grpc: 8001, http: 8000, openai: 9000, metrics: 8002 };
    const flags = names.map((name) => ` --${name} localhost:${defaults[name]}`).join('');
    return {
      reproduce: reproduceScript({ failing, symptom: symptom!, request: request!, before, beside, tries }),
      curl,
      commands: [
        ...(ports.includes('grpc') ? ["pip install 'tritonclient[grpc]'"] : []),
        `python3 reproduce.py${flags}`,
        ...(curl === undefined
          ? []
          : [`${request!.port === 'openai' ? 'OPENAI=http://localhost:9000' : 'HTTP=http://localhost:8000'} sh request.sh`]),
      ],
    };
  }
}

/** Neither who ran it nor where: an issue is read by everybody. */
function withoutPlaces({ parts }: Lab, content: string): string {
  const places = [process.cwd(), PACKAGE_ROOT, homedir(), tmpdir()]
    .filter((place) => place.length > 1)
    .toSorted((a, b) => b.length - a.length);
  const { access } = parts.endpoints;
  const told = places.reduce((text, place) => text.replaceAll(`${place}/`, '…/'), content);
  return access === undefined ? told : withoutSecrets(told, access);
}
