/** aiperf: chat and, through a template, generate_stream; judged by its raw records, and by what it takes for an error. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '#checks/lab/lab.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Judged } from '#checks/lab/judged.ts';
import type { Case } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { clientEnvironment, runClient } from '#targets/clients/index.ts';
import { writeTexts } from './genai-perf.ts';
import { SERVE_CONTROL, TRTLLM_SERVE } from './openai.ts';
import { type RecordedInputs, inGrammarMessages, inGrammarTexts, requestFrom } from './recorded-request.ts';
import { payloadReader, readPayload } from './transcripts.ts';
import { type Recorded, type Use, contextOf } from './use.ts';
import { workFolder } from './work-folder.ts';

const COUNT = 12;
const WITHIN_MS = 240_000;

/** One line of `profile_export_raw.jsonl`; times in ns of a clock of its own. */
interface RawRecord {
  readonly start_perf_ns: number;
  readonly status: number | null;
  readonly payload: RecordedInputs;
  readonly responses: readonly {
    readonly perf_ns: number;
    readonly packets: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly error?: { readonly type: string; readonly message: string };
}

interface Profile {
  readonly route: Case['route'];
  /** Given the work folder. */
  readonly endpoint: (folder: string) => readonly string[];
  /** Absent: the prompts that the tool makes up. */
  readonly texts?: readonly string[];
}

async function profiled(lab: Lab, { route, endpoint, texts }: Profile): Promise<Recorded> {
  const { signal } = lab;
  const { python, script } = await clientEnvironment('aiperf', signal);
  using folder = workFolder();
  const artifacts = join(folder.path, 'artifacts');
  const asked =
    texts === undefined
      ? ['--isl', '20', '--isl-stddev', '0', '--random-seed', String(lab.plan.seed)]
      : ['--input-file', writeTexts(folder.path, texts), '--custom-dataset-type', 'single_turn'];
  const quiet = ['--ui-type', 'none', '--no-gpu-telemetry', '--no-server-metrics'];
  const sizes = ['--request-count', String(texts?.length ?? lab.count(COUNT)), '--concurrency', '2'];
  const kept = ['--export-level', 'raw', '--output-artifact-dir', artifacts];
  const model = contextOf(lab).models.ensemble;
  const args = ['profile', '-m', model, '--streaming', ...endpoint(folder.path), ...sizes, ...asked, ...quiet, ...kept];
  await runClient({
    program: python,
    args: [script('aiperf'), ...args, '--tokenizer', lab.tokenizer.dir],
    name: 'aiperf',
    ms: WITHIN_MS,
    signal,
    cwd: folder.path,
    // With it a folder is looked up on the hub; empty counts as not set.
    environment: { HF_HUB_OFFLINE: '' },
  });
  const records = readFileSync(join(artifacts, 'profile_export_raw.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RawRecord);
  const cases = await inParallel(records, 4, async (record, repeat): Promise<Judged> => {
    const c: Case = { request: requestFrom(record.payload), route, mode: 'stream', repeat };
    return { transcript: transcriptOf(c, record), truth: await lab.truthOn(c.request, route) };
  });
  const summary = join(artifacts, 'profile_export_aiperf.json');
  return { cases, ...countedBy(summary, records, cases) };
}

/** What aiperf says of an answer in which it finds no content. */
const NO_CONTENT = 'InvalidInferenceResultError';

function transcriptOf(c: Case, { responses, error, status, start_perf_ns: startNs }: RawRecord): Transcript {
  const { prompt } = c.request;
  const builder = new TranscriptBuilder(c, prompt.kind === 'text' ? { text: prompt.text } : {});
  const read = payloadReader(c, builder, '');
  const times: number[] = [];
  for (const { perf_ns: atNs, packets } of responses) {
    for (const { value } of packets.filter((p) => p.name === 'data')) {
      if (value === '[DONE]') builder.event(FLAG.done);
      else readPayload(builder, read, JSON.parse(value));
    }
    while (times.length < builder.events) times.push(atNs - startNs);
  }
  if (error !== undefined && error.type !== NO_CONTENT)
    builder.error(status === null ? error.type : `HTTP ${status}`, error.message, 'instead');
  const t = builder.seal(status === 200 ? 'complete' : 'broken');
  return { ...t, atNs: Float64Array.from(times), endedNs: times.at(-1) ?? 0 };
}

/** Answers without text are errors to it, all others are counted. */
function countedBy(summary: string, records: readonly RawRecord[], cases: readonly Judged[]): Pick<Recorded, 'notes' | 'failures'> {
  type Count = { readonly avg: number };
  const { request_count: good, error_request_count: bad } = JSON.parse(readFileSync(summary, 'utf8')) as {
    request_count?: Count;
    error_request_count?: Count;
  };
  const isEmpty = ({ transcript }: Judged) => transcript.text === '';
  const marked = records.every(({ error }, i) => (error?.type === NO_CONTENT) === isEmpty(cases[i]!));
  const empty = cases.filter(isEmpty).length;
  const text = `aiperf counts ${good?.avg ?? 0} answers and ${bad?.avg ?? 0} errors, ${empty} of ${cases.length} have no text`;
  const holds = marked && (good?.avg ?? 0) === cases.length - empty && (bad?.avg ?? 0) === empty;
  return { notes: [text], failures: holds ? [] : [{ law: 'as-observed', code: 'client-miscounts', text }] };
}

/** Greedy: without these two the front end samples. */
const GREEDY = ['--extra-inputs', 'temperature:0', '--extra-inputs', 'top_p:0'];
const chatEndpoint = (lab: Lab) => () => [
  ...['--endpoint-type', 'chat', '--url', lab.parts.endpoints.openai!],
  ...[...GREEDY, '--extra-inputs', 'max_tokens:24'],
];

/** A file, since a template on the command line is cut at its commas. */
function templateEndpoint(lab: Lab, folder: string): string[] {
  const template = join(folder, 'template.json');
  writeFileSync(template, '{"text_input": {{ text|tojson }}, "max_tokens": 24, "stream": true, "exclude_input_in_output": true}\n');
  const path = `/v2/models/${contextOf(lab).models.ensemble}/generate_stream`;
  return [
    ...['--endpoint-type', 'template', '--url', `http://${lab.parts.endpoints.http}`, '--custom-endpoint', path],
    ...['--extra-inputs', `payload_template:${template}`, '--extra-inputs', 'response_field:text_output'],
  ];
}

const STREAM = ['answers-at-all', 'deltas-equal-whole', 'no-empty-event', 'count-limit', 'no-control-text', 'eos-ending'];
const CHAT = [...STREAM, 'done-marker', 'role-first', 'finish-reason-true', 'usage-counts', 'prompt-ids'];

export const AIPERF: readonly Use[] = [
  {
    id: 'aiperf-chat',
    statement:
      'aiperf: the events of chat streams in its raw records are what the laws say, and only answers without text are errors to it.',
    routes: ['openai-chat'],
    laws: CHAT,
    run: (lab) => profiled(lab, { route: 'openai-chat', endpoint: chatEndpoint(lab), texts: inGrammarMessages(lab, 'aiperf-chat', COUNT) }),
    control: { fault: 'usage-null-trtllm', law: 'usage-counts' },
  },
  {
    id: 'aiperf-generate-stream',
    statement: 'aiperf: the events of generate_stream, asked through a template, are what the laws say.',
    routes: ['generate'],
    laws: STREAM,
    run: (lab) =>
      profiled(lab, {
        route: 'generate',
        endpoint: (folder) => templateEndpoint(lab, folder),
        texts: inGrammarTexts(lab, 'aiperf-generate', COUNT),
      }),
    control: { fault: 'first-event-empty-text', law: 'no-empty-event' },
  },
  {
    id: 'aiperf-synthetic',
    statement: 'aiperf: answers to the prompts that it makes up itself are what the laws say.',
    routes: ['openai-chat'],
    laws: CHAT,
    dear: true,
    run: (lab) => profiled(lab, { route: 'openai-chat', endpoint: chatEndpoint(lab) }),
    control: { fault: 'sse-client-needs-done', law: 'done-marker' },
  },
  {
    id: 'aiperf-chat-trtllm-serve',
    statement: 'aiperf: the events of chat streams of trtllm-serve in its raw records are what the laws say.',
    routes: ['openai-chat'],
    laws: CHAT,
    profile: TRTLLM_SERVE,
    dear: true,
    run: (lab) => profiled(lab, { route: 'openai-chat', endpoint: chatEndpoint(lab), texts: inGrammarMessages(lab, 'aiperf-chat', COUNT) }),
    control: SERVE_CONTROL,
  },
];
