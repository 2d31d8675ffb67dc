import { type Fixture, messageJson, messageType } from '#checks/recording/index.ts';

/** A request as it was sent, in the words of the scripts. */
export type Sent =
  | {
      readonly port: 'grpc';
      readonly model: string;
      readonly id: string;
      readonly stream: boolean;
      readonly inputs: readonly {
        readonly name: string;
        readonly datatype: string;
        readonly shape: readonly number[];
        readonly data: readonly unknown[];
      }[];
    }
  | { readonly port: 'http' | 'openai'; readonly method: string; readonly path: string; readonly body: string; readonly stream: boolean };

/** Undefined when the request of the fixture cannot be read. */
export function sentOf({ header, events }: Fixture): Sent | undefined {
  const request = events.find((event) => event.kind === 'request');
  if (request === undefined) return undefined;
  if (header.protocol === 'grpc') {
    const message = events.find((event) => event.kind === 'message' && event.from === 'client');
    const type = messageType(request.path, 'client');
    if (message?.kind !== 'message' || type === undefined) return undefined;
    const json = messageJson(type, message.bytes) as { model_name: string; id?: string; inputs?: never[] } | undefined;
    if (json === undefined) return undefined;
    return {
      port: 'grpc',
      model: json.model_name,
      id: json.id ?? '',
      stream: request.path.endsWith('ModelStreamInfer'),
      inputs: json.inputs ?? [],
    };
  }
  const body = Buffer.concat(
    events
      .filter((event) => (event.kind === 'body' || event.kind === 'chunk') && event.from === 'client')
      .map((event) => ('bytes' in event ? event.bytes : Buffer.alloc(0))),
  ).toString('utf8');
  const streams = header.case?.mode === 'stream';
  return {
    port: header.protocol === 'openai' ? 'openai' : 'http',
    method: request.method ?? 'POST',
    path: request.path,
    body,
    stream: streams,
  };
}
