/** From what a client recorded to transcripts, so that its record meets the laws that the suite's own clients meet. */
import { chatReader, completionsReader } from '#checks/routes/openai-reader.ts';
import { generateReader } from '#checks/routes/generate.ts';
import { type MessageReader, llmapiReader, rawReader, textReader } from '#checks/routes/read-tensors.ts';
import type { PayloadReader } from '#checks/routes/event-exchange.ts';
import type { Case } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { InferMessage } from '#wire/clients/index.ts';
import type { Datatype, Tensor } from '#wire/protocol/tensors.ts';
import type { Line, TensorLine } from './driver.ts';

export function tensorLine({ name, datatype, shape, data }: Tensor): TensorLine {
  return { name, datatype, shape, data: Buffer.from(data).toString('base64') };
}

export function tensorOf({ name, datatype, shape, data }: TensorLine): Tensor {
  return { name, datatype: datatype as Datatype, shape, data: Buffer.from(data, 'base64') };
}

/** A gRPC or HTTP inference, tensors in and out. `unary`: one response without a flag, which ends the call. */
export function tensorTranscript(
  c: Case,
  lines: readonly Line[],
  sent: { readonly id: string; readonly unary: boolean; readonly ids?: Int32Array; readonly text?: string },
): Transcript {
  const builder = new TranscriptBuilder(c, sent);
  const read = tensorReader(c, builder);
  for (const line of lines) {
    if (line.kind !== 'response') continue;
    const outputs = (line.outputs ?? []).map(tensorOf);
    builder.event((outputs.length > 0 ? FLAG.data : 0) | (line.final === true || sent.unary ? FLAG.final : 0));
    if (line.request !== sent.id) builder.foreignId(line.request ?? '');
    if (outputs.length > 0) guarded(builder, () => read(messageOf(line, outputs)));
  }
  return sealed(builder, lines);
}

function tensorReader({ route }: Case, builder: TranscriptBuilder): MessageReader {
  if (route === 'raw') return rawReader(builder);
  if (route === 'llmapi') return llmapiReader(builder);
  return textReader(builder, route === 'bls-accumulate');
}

function messageOf(line: Line, outputs: readonly Tensor[]): InferMessage {
  return {
    id: line.request ?? '',
    modelName: '',
    modelVersion: '',
    outputs,
    parameters: new Map(),
    final: line.final ?? undefined,
    errorMessage: undefined,
  };
}

/** JSON payloads of generate and of the OpenAI routes. */
export function payloadTranscript(c: Case, lines: readonly Line[], sent: { readonly id: string; readonly text?: string }): Transcript {
  const builder = new TranscriptBuilder(c, sent);
  const read = payloadReader(c, builder, sent.id);
  for (const line of lines) if (line.kind === 'response') readPayload(builder, read, line.payload);
  return sealed(builder, lines);
}

export function payloadReader(c: Case, builder: TranscriptBuilder, id: string): PayloadReader {
  switch (c.route) {
    case 'generate':
      return generateReader(builder, id);
    case 'openai-completions':
      return completionsReader(builder);
    case 'openai-chat':
      return chatReader(builder);
    default:
      throw new LockstepError('internal', `${c.route} has no JSON payloads`);
  }
}

export function readPayload(builder: TranscriptBuilder, read: PayloadReader, payload: unknown): void {
  const before = builder.events;
  const opened = () => {
    if (builder.events === before) builder.event(0);
  };
  if (payload === null || typeof payload !== 'object' || 'error' in payload) {
    opened();
    return builder.error('in-band', JSON.stringify(payload));
  }
  guarded(builder, () => read(payload as Readonly<Record<string, unknown>>), opened);
}

function guarded(builder: TranscriptBuilder, read: () => unknown, opened: () => void = () => undefined): void {
  try {
    read();
  } catch (thrown) {
    opened();
    builder.error('malformed', LockstepError.from(thrown).message);
  }
}

function sealed(builder: TranscriptBuilder, lines: readonly Line[]): Transcript {
  for (const { kind, exception, code, message } of lines) {
    if (kind === 'error') builder.error(code ?? exception ?? 'error', message ?? '', 'instead');
  }
  const end = lines.findLast((l) => l.kind === 'end');
  const startMs = lines.find((l) => l.kind === 'sent')?.atMs ?? lines[0]?.atMs ?? 0;
  const sinceNs = (l: Line) => 1e6 * (l.atMs - startMs);
  return {
    ...builder.seal(end?.ending ?? 'broken'),
    atNs: Float64Array.from(
      lines.filter((l) => l.kind === 'response'),
      sinceNs,
    ),
    endedNs: sinceNs(end ?? lines.at(-1) ?? ({ atMs: startMs } as Line)),
  };
}
