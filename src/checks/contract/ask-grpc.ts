import { type Client, type ClientDuplexStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { wallClockMs } from '#core/clock/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import { decodeBytesElements } from '#wire/protocol/tensors.ts';
import { NO_ANSWER, type Reply, reply } from './reply.ts';
import type { Ask } from './types.ts';

type Headers = Readonly<Record<string, string>>;

/** One unary call, as grpc-js makes it. Never rejects. */
export function askGrpc(client: Client, headers: Headers, ask: Extract<Ask, { via: 'grpc' }>, deadlineMs: number): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  // grpc-js builds its methods at run time.
  (client as any)[ask.rpc](ask.message, metadata(headers), deadline(deadlineMs), (error: ServiceError | null, message: unknown) =>
    resolve(error === null ? reply('OK', { body: canonicalJson(shown(withOutputs(message))) }) : failed(error, deadlineMs)),
  );
  return promise;
}

/** Any bytes on any path. Never rejects. */
export function askGrpcBytes(
  client: Client,
  headers: Headers,
  ask: Extract<Ask, { via: 'grpc-bytes' }>,
  deadlineMs: number,
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const asIs = (bytes: Buffer): Buffer => bytes;
  client.makeUnaryRequest(
    ask.path,
    asIs,
    asIs,
    Buffer.from(ask.bytes),
    metadata(headers),
    deadline(deadlineMs),
    (error: ServiceError | null, bytes?: Buffer) =>
      resolve(error === null ? reply('OK', { body: `${bytes?.length ?? 0} bytes` }) : failed(error, deadlineMs)),
  );
  return promise;
}

/** Sends all messages at once, half-closes, and gives everything that came back. Never rejects. */
export function askStream(client: Client, headers: Headers, ask: Extract<Ask, { via: 'stream' }>, deadlineMs: number): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const call = (client as any).ModelStreamInfer(metadata({ ...headers, ...ask.metadata }), deadline(deadlineMs)) as ClientDuplexStream<
    unknown,
    unknown
  >;
  const messages: string[] = [];
  call.on('data', (message: any) => messages.push(line(message)));
  call.on('error', () => undefined);
  call.on('status', ({ code, details }) => {
    const late = code === status.DEADLINE_EXCEEDED;
    resolve(reply(late ? `${NO_ANSWER} within ${deadlineMs} ms` : (status[code] as string), { type: late ? '' : details, messages }));
  });
  for (const message of ask.messages) call.write(message);
  call.end();
  return promise;
}

function failed(error: ServiceError, deadlineMs: number): Reply {
  if (error.code === status.DEADLINE_EXCEEDED) return reply(`${NO_ANSWER} within ${deadlineMs} ms`);
  return reply(status[error.code] as string, { type: error.details });
}

function metadata(headers: Headers): Metadata {
  const sent = new Metadata();
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  return sent;
}

const deadline = (ms: number) => ({ deadline: wallClockMs() + ms });

/** Outputs of an answer as text, in place of their bytes. */
function withOutputs(message: any): unknown {
  if (message.raw_output_contents === undefined) return message;
  const { raw_output_contents: raw, outputs, ...rest } = message;
  const shownOutputs = outputs.map((o: any, i: number) => [o.name, `${o.datatype} [${o.shape}]${value(o.datatype, raw[i])}`]);
  return { ...rest, outputs: Object.fromEntries(shownOutputs) };
}

/** A message of a stream: what a client branches on, and the outputs. */
function line({ error_message: error, infer_response: r }: any): string {
  const parameters = Object.entries<any>(r?.parameters ?? {})
    .map(([name, value]) => `${name}=${value[value.parameter_choice]}`)
    .toSorted();
  const outputs = (r?.outputs ?? []).map(
    (o: any, i: number) => `${o.name} ${o.datatype} [${o.shape}]${value(o.datatype, r.raw_output_contents[i])}`,
  );
  return [
    `id '${r?.id ?? ''}' model '${r?.model_name ?? ''}' version '${r?.model_version ?? ''}'`,
    `parameters ${parameters.join(' ') || 'none'}`,
    error === '' ? `outputs ${outputs.toSorted().join(', ') || 'none'}` : `error ${error}`,
  ].join(' · ');
}

const VALUES_SHOWN = 16;

function value(datatype: string, raw: Uint8Array | undefined): string {
  if (raw === undefined) return '';
  if (datatype === 'BYTES') {
    return ` ${JSON.stringify(decodeBytesElements(raw).map((text) => Buffer.from(text).toString('utf8')))}`;
  }
  if (datatype === 'INT32' && raw.length <= 4 * VALUES_SHOWN) return ` [${new Int32Array(Uint8Array.from(raw).buffer).join()}]`;
  return ` ${raw.length} bytes`;
}

/** Raw tensors as text; the discriminators of oneofs are grpc-js's own. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (Array.isArray(value)) return value.map(shown);
  if (value === null || typeof value !== 'object') return value;
  const drop = /^(parameter_choice|policy_choice|scheduling_choice)$/;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !drop.test(name))
      .map(([name, inner]) => [name, shown(inner)]),
  );
}
