/** A client that numbers its requests anew gets its own number back where the recording has the old one. */
import { type Json, messageBytes, messageJson } from '../message-json.ts';
import { messageType } from '../proto-types.ts';
import { isObject } from './question.ts';

/** Recorded id → the one that the client of today gave. */
export type RequestIds = ReadonlyMap<string, string>;

/** The bytes as they were recorded when no id in them is another one now. */
export function messageWithIds(path: string, bytes: Buffer, ids: RequestIds): Buffer {
  if (![...ids].some(([old, now]) => old !== now)) return bytes;
  const type = messageType(path, 'server');
  const json = type === undefined ? undefined : messageJson(type, bytes);
  if (type === undefined || json === undefined || !isObject(json)) return bytes;
  const streamed = json['infer_response'];
  const renamed = isObject(streamed) ? { ...json, infer_response: renumbered(streamed, ids) } : renumbered(json, ids);
  return messageBytes(type, renamed);
}

function renumbered(response: { readonly [key: string]: Json }, ids: RequestIds): Json {
  const { id = '' } = response;
  const now = typeof id === 'string' ? ids.get(id) : undefined;
  return now === undefined || now === id ? response : { ...response, id: now };
}

/** `"id":"…"` in a body or chunk of JSON. */
export function textWithIds(bytes: Buffer, ids: RequestIds): Buffer {
  let out = bytes;
  for (const [old, now] of ids) {
    if (old === now || old === '') continue;
    const text = out.toString('latin1');
    const latin1 = (value: string): string => Buffer.from(JSON.stringify(value), 'utf8').toString('latin1');
    const place = `"id":${latin1(old)}`;
    if (text.includes(place))
      out = Buffer.from(
        text.replaceAll(place, () => `"id":${latin1(now)}`),
        'latin1',
      );
  }
  return out;
}
