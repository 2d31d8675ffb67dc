/** genai-perf, which drives perf_analyzer: judged by the profile export that it leaves, and by its own count of answers. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '#checks/lab/lab.ts';
import type { Judged } from '#checks/lab/judged.ts';
import { viewOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Case, Mode } from '#core/request/index.ts';
import { clientEnvironment, pathWith, runClient } from '#targets/clients/index.ts';
import { judgedPerfRecords, readPerfRecords } from './perf-record.ts';
import { inGrammarMessages, inGrammarTexts } from './recorded-request.ts';
import { type Recorded, type Use, contextOf } from './use.ts';
import { untilWhole } from './whole-export.ts';
import { workFolder } from './work-folder.ts';

const COUNT = 12;
const WITHIN_MS = 180_000;

interface Profile {
  readonly route: Case['route'];
  readonly mode: Mode;
  readonly endpoint: readonly string[];
  /** Of gRPC answers it counts those without text, too. */
  readonly countsEmpty?: true;
  /** Absent: the prompts that the tool makes up. */
  readonly texts?: readonly string[];
}

async function profiled(lab: Lab, { route, mode, endpoint, texts, countsEmpty }: Profile): Promise<Recorded> {
  const { signal } = lab;
  const { python, script } = await clientEnvironment('genai-perf', signal);
  const { programs } = await clientEnvironment('perf-analyzer', signal);
  const { value, notes } = await untilWhole(async () => {
    using folder = workFolder();
    const artifacts = join(folder.path, 'artifacts');
    const count = String(texts?.length ?? lab.count(COUNT));
    const sizes = ['--osl', '24', '--request-count', count, '--num-dataset-entries', count, '--concurrency', '2'];
    const asked =
      texts === undefined ? ['--isl', '20', '--random-seed', String(lab.plan.seed)] : ['--input-file', writeTexts(folder.path, texts)];
    const model = contextOf(lab).models.ensemble;
    const args = ['profile', '-m', model, ...endpoint, ...sizes, ...asked, '--tokenizer', lab.tokenizer.dir, '--artifact-dir', artifacts];
    await runClient({
      program: python,
      args: [script('genai-perf'), ...args],
      name: 'genai-perf',
      ms: WITHIN_MS,
      signal,
      cwd: folder.path,
      environment: { PATH: pathWith(programs) },
    }).catch((thrown: unknown) => {
      throw cutExport(thrown);
    });
    const [run] = readdirSync(artifacts);
    const made = (name: string) => join(artifacts, run ?? '', name);
    return { records: readPerfRecords(made('profile_export.json')), counted: countIn(made('profile_export_genai_perf.json')) };
  });
  const cases = await judgedPerfRecords(lab, value.records, route, mode);
  const { text, holds } = counting(value.counted, cases, countsEmpty);
  return {
    cases,
    notes: [...notes, text],
    failures: [...(holds ? [] : [{ law: 'as-observed', code: 'client-miscounts', text }]), ...tooShort(cases)],
  };
}

/** The same error, told apart when its own reader found perf_analyzer's export cut. */
function cutExport(thrown: unknown): LockstepError {
  const error = LockstepError.from(thrown);
  if (!/JSONDecodeError/.test(String(error.context['output']))) return error;
  return new LockstepError('client-export-cut', 'genai-perf cannot read the profile export of perf_analyzer', {
    hint: 'perf_analyzer wrote a value that is no number; run it again.',
    context: error.context,
  });
}

/** Its export of a stream has no counts, but a response per token. */
function tooShort(cases: readonly Judged[]): readonly Failure[] {
  return cases.flatMap(({ transcript: t }) => {
    const { minTokens = 0 } = t.case.request.limits;
    if (t.case.mode !== 'stream' || t.events >= minTokens) return [];
    return [
      {
        law: 'min-tokens',
        code: 'too-few',
        text: `${t.events} responses, at least ${minTokens} tokens were asked for`,
        case: viewOf(t.case),
      },
    ];
  });
}

function countIn(summary: string): number {
  return (JSON.parse(readFileSync(summary, 'utf8')) as { request_count: { avg: number } }).request_count.avg;
}

/** Answers of HTTP without text are left out of its statistics without a word. */
function counting(counted: number, cases: readonly Judged[], countsEmpty = false): { readonly text: string; readonly holds: boolean } {
  const withText = cases.filter(({ transcript }) => transcript.text !== '').length;
  return {
    text: `genai-perf counts ${counted} of ${cases.length} answers, ${withText} have text`,
    holds: counted === (countsEmpty ? cases.length : withText),
  };
}

export function writeTexts(folder: string, texts: readonly string[]): string {
  const file = join(folder, 'texts.jsonl');
  writeFileSync(file, texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
  return file;
}

/** Greedy: without these two the front end samples. */
const GREEDY = ['--extra-inputs', 'temperature:0', '--extra-inputs', 'top_p:0'];
const chatEndpoint = (lab: Lab) => ['--endpoint-type', 'chat', '--url', lab.parts.endpoints.openai!, '--streaming', ...GREEDY];

const kserveEndpoint = (lab: Lab) => [
  ...['--backend', 'tensorrtllm', '--endpoint-type', 'kserve'],
  ...['--url', lab.parts.endpoints.grpc, '--streaming'],
];

const STREAM = ['answers-at-all', 'deltas-equal-whole', 'no-empty-event', 'count-limit', 'no-control-text'];
const CHAT = [...STREAM, 'done-marker', 'role-first', 'finish-reason-true', 'eos-ending'];

export const GENAI_PERF: readonly Use[] = [
  {
    id: 'genai-perf-chat',
    statement: 'genai-perf: the events of chat streams in its export are what the laws say, and it counts the answers with text.',
    routes: ['openai-chat'],
    laws: CHAT,
    run: (lab) =>
      profiled(lab, {
        route: 'openai-chat',
        mode: 'stream',
        endpoint: chatEndpoint(lab),
        texts: inGrammarMessages(lab, 'genai-chat', COUNT),
      }),
    control: { fault: 'sse-client-needs-done', law: 'done-marker' },
  },
  {
    id: 'genai-perf-kserve',
    statement: 'genai-perf: the responses of ensemble streams over gRPC in its export are what the laws say.',
    routes: ['ensemble'],
    laws: STREAM,
    run: (lab) =>
      profiled(lab, {
        route: 'ensemble',
        mode: 'stream',
        endpoint: kserveEndpoint(lab),
        texts: inGrammarTexts(lab, 'genai-kserve', COUNT),
        countsEmpty: true,
      }),
    control: { fault: 'stream-no-spaces-ensemble', law: 'deltas-equal-whole' },
  },
  {
    id: 'genai-perf-kserve-min-length',
    statement: 'genai-perf: with a fixed number of tokens its answers have that many, on a release whose ensemble has min_length.',
    routes: ['ensemble'],
    laws: STREAM,
    profile: 'models=0.19',
    dear: true,
    run: (lab) =>
      profiled(lab, {
        route: 'ensemble',
        mode: 'stream',
        endpoint: [...kserveEndpoint(lab), '--output-tokens-mean-deterministic'],
        countsEmpty: true,
      }),
    control: { fault: 'min-length-ignored', law: 'min-tokens' },
  },
  {
    id: 'genai-perf-generate',
    statement: 'genai-perf: the answers of generate in its export have the text of their ids.',
    routes: ['generate'],
    laws: ['answers-at-all', 'text-is-true-decode', 'no-control-text'],
    dear: true,
    run: (lab) =>
      profiled(lab, {
        route: 'generate',
        mode: 'unary',
        endpoint: [
          '--endpoint-type',
          'generate',
          '--url',
          `http://${lab.parts.endpoints.http}`,
          '--extra-inputs',
          'exclude_input_in_output:true',
        ],
        texts: inGrammarTexts(lab, 'genai-generate', COUNT),
      }),
    control: { fault: 'echo-default-nonstream', law: 'text-is-true-decode' },
  },
  {
    id: 'genai-perf-synthetic',
    statement: 'genai-perf: answers to the prompts that it makes up itself are what the laws say.',
    routes: ['openai-chat'],
    laws: CHAT,
    dear: true,
    run: (lab) => profiled(lab, { route: 'openai-chat', mode: 'stream', endpoint: chatEndpoint(lab) }),
    control: { fault: 'chat-stream-without-role', law: 'role-first' },
  },
];
