/** perf_analyzer: gRPC, one response and streams, and OpenAI chat; judged by its profile export. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '#checks/lab/lab.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { promptIds } from '#checks/routes/prompt.ts';
import type { Case, Mode } from '#core/request/index.ts';
import { clientEnvironment, runClient } from '#targets/clients/index.ts';
import { SERVE_CONTROL, TRTLLM_SERVE, openAiRequestBody, openAiRequests } from './openai.ts';
import { judgedPerfRecords, readPerfRecords } from './perf-record.ts';
import { inGrammarTexts } from './recorded-request.ts';
import { type Recorded, type Use, contextOf } from './use.ts';
import { untilWhole } from './whole-export.ts';
import { workFolder } from './work-folder.ts';

const COUNT = 20;
const MAX_TOKENS = 24;
const WITHIN_MS = 120_000;

interface Profile {
  readonly route: Case['route'];
  readonly mode: Mode;
  readonly model: string;
  /** Rows of `--input-data`; each is asked once. */
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly args: readonly string[];
}

async function profiled(lab: Lab, { route, mode, model, data, args }: Profile): Promise<Recorded> {
  const { signal } = lab;
  const { programs } = await clientEnvironment('perf-analyzer', signal);
  using folder = workFolder();
  const input = join(folder.path, 'in.json');
  writeFileSync(input, JSON.stringify({ data }));
  let run = 0;
  const { value: records, notes } = await untilWhole(async () => {
    // It refuses to write over a file.
    const output = join(folder.path, `out-${++run}.json`);
    const counted = ['--input-data', input, '--request-count', String(data.length), '--profile-export-file', output];
    await runClient({
      program: join(programs, 'perf_analyzer'),
      args: ['-m', model, ...counted, ...args],
      name: 'perf_analyzer',
      ms: WITHIN_MS,
      signal,
      cwd: folder.path,
    });
    return readPerfRecords(output);
  });
  return { cases: await judgedPerfRecords(lab, records, route, mode), notes };
}

/** Every name must stand in the model's configuration; shapes go without the batch dimension. */
function texts(lab: Lab, route: 'ensemble' | 'bls', mode: Mode): Promise<Recorded> {
  const data = inGrammarTexts(lab, `perf-${route}-${mode}`, COUNT).map((text) => ({
    text_input: [text],
    max_tokens: [MAX_TOKENS],
    stream: [mode === 'stream'],
    exclude_input_in_output: [true],
  }));
  return profiled(lab, { route, mode, model: contextOf(lab).models[route], data, args: grpc(lab, mode) });
}

function raw(lab: Lab): Promise<Recorded> {
  const { eosId, padId } = lab.tokenizer;
  const prompts = lab.plan.draw('clients:perf-raw', lab.count(COUNT)).map((p) => requestOf(p, { maxTokens: MAX_TOKENS }).prompt);
  const data = prompts.map((prompt) => {
    const ids = [...promptIds(prompt, lab.tokenizer)];
    return {
      input_ids: { content: ids, shape: [ids.length] },
      input_lengths: [ids.length],
      request_output_len: [MAX_TOKENS],
      streaming: [true],
      ...(eosId === undefined ? {} : { end_id: [eosId], pad_id: [padId ?? eosId] }),
    };
  });
  return profiled(lab, { route: 'raw', mode: 'stream', model: contextOf(lab).models.raw, data, args: grpc(lab, 'stream') });
}

function grpc(lab: Lab, mode: Mode): string[] {
  const how = mode === 'stream' ? ['--async', '--streaming', '--concurrency-range', '4'] : ['--concurrency-range', '1'];
  return ['-i', 'grpc', '-u', lab.parts.endpoints.grpc, ...how];
}

/** `--streaming` is refused with OpenAI: the payload says so itself. */
function chat(lab: Lab): Promise<Recorded> {
  const data = openAiRequests(lab, 'openai-chat', 'perf-chat', COUNT).map((request) => ({
    payload: [openAiRequestBody(lab, { request, route: 'openai-chat', mode: 'stream', repeat: 0 })],
  }));
  const where = ['--service-kind', 'openai', '--endpoint', 'v1/chat/completions', '-i', 'http', '-u', lab.parts.endpoints.openai!];
  const args = [...where, '--async', '--concurrency-range', '2'];
  return profiled(lab, { route: 'openai-chat', mode: 'stream', model: contextOf(lab).models.openai, data, args });
}

const STREAM = ['answers-at-all', 'deltas-equal-whole', 'no-empty-event', 'count-limit'];

const CHAT = [
  ...STREAM,
  'done-marker',
  'role-first',
  'finish-reason-true',
  'usage-counts',
  'prompt-ids',
  'eos-ending',
  'length-ending',
  'no-control-text',
  'no-broken-utf8',
];

export const PERF_ANALYZER: readonly Use[] = [
  {
    id: 'perf-analyzer-stream-ensemble',
    statement: 'perf_analyzer: the responses that it recorded of ensemble streams, four at once, are what the laws say.',
    routes: ['ensemble'],
    laws: [...STREAM, 'no-control-text', 'no-broken-utf8'],
    run: (lab) => texts(lab, 'ensemble', 'stream'),
    control: { fault: 'decoupled-client-one-token', law: 'deltas-equal-whole' },
  },
  {
    id: 'perf-analyzer-stream-raw',
    statement: 'perf_analyzer: the ids that it recorded of tensorrt_llm streams, four at once, are what the laws say.',
    routes: ['raw'],
    laws: [...STREAM, 'ids-in-vocabulary', 'sequence-lengths-true'],
    run: raw,
    control: { fault: 'first-event-empty-text', law: 'no-empty-event' },
  },
  {
    id: 'perf-analyzer-stream-bls',
    statement: 'perf_analyzer: the responses that it recorded of tensorrt_llm_bls streams, four at once, are what the laws say.',
    routes: ['bls'],
    laws: [...STREAM, 'no-control-text', 'no-broken-utf8'],
    run: (lab) => texts(lab, 'bls', 'stream'),
    control: { fault: 'decoupled-client-one-token', law: 'deltas-equal-whole' },
  },
  {
    id: 'perf-analyzer-unary-ensemble',
    statement: 'perf_analyzer: the texts that it recorded of an ensemble that gives one response are those of its ids.',
    routes: ['ensemble'],
    repository: 'unary',
    laws: ['answers-at-all', 'text-is-true-decode', 'no-control-text'],
    run: (lab) => texts(lab, 'ensemble', 'unary'),
    control: { fault: 'stream-no-spaces-ensemble', law: 'text-is-true-decode' },
  },
  {
    id: 'perf-analyzer-chat',
    statement: 'perf_analyzer: the events that it recorded of chat streams are what the laws say, [DONE] last.',
    routes: ['openai-chat'],
    laws: CHAT,
    run: chat,
    control: { fault: 'sse-client-needs-done', law: 'done-marker' },
  },
  {
    id: 'perf-analyzer-chat-trtllm-serve',
    statement: 'perf_analyzer: the events that it recorded of chat streams of trtllm-serve are what the laws say.',
    routes: ['openai-chat'],
    laws: CHAT,
    profile: TRTLLM_SERVE,
    run: chat,
    control: SERVE_CONTROL,
  },
];
