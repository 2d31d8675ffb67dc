/** perf_analyzer's `--profile-export-file`, which genai-perf writes too: every request with all of its responses. */
import { readFileSync } from 'node:fs';
import type { Lab } from '#checks/lab/lab.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Judged } from '#checks/lab/judged.ts';
import type { Case, Mode, RouteId } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { payloadReader, readPayload } from './transcripts.ts';
import { type RecordedInputs, requestFrom } from './recorded-request.ts';

/** Times in ns since 1970. */
export interface PerfRecord {
  readonly timestamp: number;
  readonly request_inputs: Readonly<Record<string, unknown>>;
  readonly response_timestamps: readonly number[];
  readonly response_outputs: readonly Readonly<Record<string, unknown>>[];
}

/** Errors: `client-export-cut` (the file ends in the middle), `client-record-unread`. */
export function readPerfRecords(path: string): readonly PerfRecord[] {
  const text = readFileSync(path, 'utf8');
  if (!text.endsWith('}')) {
    throw new LockstepError('client-export-cut', `the profile export ends in the middle: …${text.slice(-120)}`, {
      hint: 'perf_analyzer wrote a value that is no number; run it again.',
    });
  }
  try {
    const { experiments } = JSON.parse(text) as { experiments: { requests: PerfRecord[] }[] };
    return experiments.flatMap((e) => e.requests);
  } catch (thrown) {
    throw new LockstepError('client-record-unread', `${path} is no profile export: ${(thrown as Error).message}`, {
      hint: 'Run the client by itself, as docs/clients.md shows, and look at the file.',
      cause: thrown,
    });
  }
}

/** The records as transcripts, beside the accepted answer to what each of them says that it asked. */
export async function judgedPerfRecords(lab: Lab, records: readonly PerfRecord[], route: RouteId, mode: Mode): Promise<readonly Judged[]> {
  return inParallel(records, 4, async (record, repeat) => {
    const { payload } = record.request_inputs;
    const inputs = (typeof payload === 'string' ? JSON.parse(payload) : record.request_inputs) as RecordedInputs;
    const c: Case = { request: requestFrom(inputs), route, mode, repeat };
    return { transcript: transcriptOf(c, record), truth: await lab.truthOn(c.request, route) };
  });
}

function transcriptOf(c: Case, record: PerfRecord): Transcript {
  const { request_inputs: inputs, response_outputs: outputs, response_timestamps: times, timestamp } = record;
  const { prompt } = c.request;
  const sent = prompt.kind === 'ids' ? { ids: Int32Array.from(prompt.ids) } : prompt.kind === 'text' ? { text: prompt.text } : {};
  const builder = new TranscriptBuilder(c, sent);
  const eventTimes: number[] = [];
  for (const [i, output] of outputs.entries()) {
    // A response that only says the end is written with the outputs of an empty one: a BLS ends with such a response.
    if (c.route === 'bls' && i === outputs.length - 1 && output['text_output'] === '') builder.event(0);
    else if ('payload' in inputs) addPayloads(c, builder, output['response']);
    else addTensors(builder, output);
    while (eventTimes.length < builder.events) eventTimes.push((times[i] ?? timestamp) - timestamp);
  }
  const t = builder.seal(outputs.length > 0 ? 'complete' : 'broken');
  return { ...t, atNs: Float64Array.from(eventTimes), endedNs: eventTimes.at(-1) ?? 0 };
}

/** One piece of the body may hold several events, and a whole answer is one object. */
function addPayloads(c: Case, builder: TranscriptBuilder, response: unknown): void {
  if (typeof response !== 'string') return;
  const read = payloadReader(c, builder, '');
  for (const part of response.split('\n\n')) {
    const data = part.startsWith('data: ') ? part.slice('data: '.length) : part;
    if (data === '') continue;
    if (data === '[DONE]') builder.event(FLAG.done);
    else readPayload(builder, read, jsonOf(data));
  }
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return { error: `no JSON: ${data.slice(0, 200)}` };
  }
}

/**
 * Of the tensors only those are read that every response carries. perf_analyzer 2.51 writes a number for every output
 * of the model's configuration, and for outputs without elements that number is whatever stood in memory.
 */
function addTensors(builder: TranscriptBuilder, output: Readonly<Record<string, unknown>>): void {
  builder.event(FLAG.data);
  const { text_output: text, output_ids: ids, sequence_length: length } = output;
  if (typeof text === 'string') builder.text(text);
  if (typeof length !== 'number') return;
  builder.sequenceLength(length);
  const all = typeof ids === 'number' ? [ids] : ((ids ?? []) as number[]);
  for (const id of all.slice(0, length)) builder.id(id);
}
