import { type ClientDuplexStream, type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { http2CodeName } from '#wire/protocol/http2-codes.ts';
import type { CallTap } from '../tap.ts';
import type { Method } from './channel.ts';
import { isUnreachable, callStatus } from './status.ts';

/** The same RPC, telling the bytes of its messages. */
export function tappedMethod<Req, Res>(method: Method<Req, Res>, tap: CallTap): Method<Req, Res> {
  return {
    path: method.path,
    requestSerialize: (request) => {
      const bytes = method.requestSerialize(request);
      tap({ kind: 'message', from: 'client', bytes });
      return bytes;
    },
    responseDeserialize: (bytes) => {
      tap({ kind: 'message', from: 'server', bytes });
      return method.responseDeserialize(bytes);
    },
  };
}

/** Tells the rest of a call: its head, the answer's, and how it ended. */
export function watchCall(
  call: ClientDuplexStream<never, unknown>,
  tap: CallTap,
  { path, metadata, address }: { readonly path: string; readonly metadata: Metadata; readonly address: string },
): void {
  let left = false;
  const own = [
    [':authority', address],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
  ] as const;
  tap({ kind: 'request', path, headers: [...own, ...pairs(metadata)] });
  call.once('finish', () => tap({ kind: 'end', from: 'client' }));
  call.once('metadata', (head: Metadata) => tap({ kind: 'response', headers: pairs(head) }));
  const cancel = call.cancel.bind(call);
  call.cancel = () => {
    left = true;
    cancel();
  };
  call.once('status', (end: StatusObject) => {
    // grpc-js makes up a status of its own where no trailers came (lib/resolving-call.ts, lib/subchannel-call.ts).
    const expired = end.code === status.DEADLINE_EXCEEDED && end.details.startsWith('Deadline exceeded after');
    const [, code] = /^Received RST_STREAM with code (\d+)/.exec(end.details) ?? [];
    if (left || expired) tap({ kind: 'reset', from: 'client', code: 'CANCEL' });
    else if (code !== undefined) tap({ kind: 'reset', from: 'server', code: http2CodeName(Number(code)) });
    else if (isUnreachable(callStatus(end)) || /^Connection dropped|^Stream refused/.test(end.details))
      tap({ kind: 'close', from: 'server' });
    else tap({ kind: 'trailers', headers: [...statusHeaders(end), ...pairs(end.metadata)] });
  });
}

function statusHeaders({ code, details }: StatusObject): [string, string][] {
  const message = details === '' ? [] : [['grpc-message', encodeURI(details)] as [string, string]];
  return [['grpc-status', String(code)], ...message];
}

function pairs(metadata: Metadata): [string, string][] {
  return Object.entries(metadata.getMap()).map(([name, value]) => [name, typeof value === 'string' ? value : value.toString('base64')]);
}
