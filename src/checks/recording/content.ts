/**
 * Bytes as a reader wants to see them, exactly: what can be said as text or as a message is, and where that would not give
 * the same bytes back, the bytes stand beside it (`raw`, base64). Base64 alone is for what no text can say.
 */
import { deflateSync, gunzipSync, inflateSync, gzipSync } from 'node:zlib';
import { bytesOfText, textOfBytes } from '#wire/protocol/escaped-bytes.ts';
import { type Json, messageBytes, messageJson } from './message-json.ts';
import { messageType } from './proto-types.ts';
import { type ElementValue, elementBytes, elementValues } from './tensor-values.ts';
import type { FixtureEvent, Headers, Side } from './types.ts';

export type JsonObject = { readonly [key: string]: Json };

/** What the events so far say about how the next bytes are to be read. */
export class ContentState {
  #path = '';
  readonly #heads: Record<Side, Headers> = { client: [], server: [] };

  saw(event: FixtureEvent): void {
    if (event.kind === 'request') this.#path = event.path;
    if (event.kind === 'request' || event.kind === 'response') this.#heads[event.from] = event.headers;
  }

  get path(): string {
    return this.#path;
  }

  header(from: Side, name: string): string | undefined {
    return headerOf(this.#heads[from], name);
  }
}

export function headerOf(headers: Headers, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

/** A larger message is not expanded: what is compressed can be made to fill any memory. */
const EXPANDED_BYTES = 64 * 1024 * 1024;

/** Larger ones are base64: their elements as text would be a string that no engine can hold. */
const SHOWN_BYTES = 16 * 1024 * 1024;

/** What `gzip` and `deflate` hide; undefined for other codings, for what is damaged, and for what is too large. */
export function expanded(bytes: Uint8Array, encoding: string): Buffer | undefined {
  try {
    if (encoding === 'gzip') return gunzipSync(bytes, { maxOutputLength: EXPANDED_BYTES });
    if (encoding === 'deflate') return inflateSync(bytes, { maxOutputLength: EXPANDED_BYTES });
  } catch {
    // It stays as it is.
  }
  return undefined;
}

/** Compressed as a hand-written fixture asks for it; the bytes of another's compression are kept as they are. */
function compressed(bytes: Uint8Array, encoding: string): Buffer {
  return encoding === 'gzip' ? gzipSync(bytes) : deflateSync(bytes);
}

export function messageContent(bytes: Buffer, encoding: string | undefined, from: Side, state: ContentState): JsonObject {
  const plain = encoding === undefined ? bytes : expanded(bytes, encoding);
  const type = plain === undefined || plain.length > SHOWN_BYTES ? undefined : messageType(state.path, from);
  const json = type === undefined ? undefined : messageJson(type, plain!);
  if (type === undefined || json === undefined) return { base64: bytes.toString('base64') };
  if (encoding === undefined && sameBytes(() => messageBytes(type, json), bytes)) return { message: json };
  return { message: json, raw: bytes.toString('base64') };
}

/** Throws a TypeError that says what is wrong with the content. */
export function messageContentBytes(content: JsonObject, encoding: string | undefined, from: Side, state: ContentState): Buffer {
  const raw = content['raw'] ?? content['base64'];
  if (raw !== undefined) return fromBase64(raw);
  const type = messageType(state.path, from);
  if (type === undefined) throw new TypeError(`no message of ${state.path} is known`);
  const bytes = messageBytes(type, content['message'] ?? null);
  return encoding === undefined ? bytes : compressed(bytes, encoding);
}

export function bodyContent(bytes: Buffer, from: Side, state: ContentState): JsonObject {
  const encoding = state.header(from, 'content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    const plain = expanded(bytes, encoding);
    return plain === undefined
      ? { base64: bytes.toString('base64') }
      : { ...inferContent(plain, from, state), raw: bytes.toString('base64') };
  }
  return inferContent(bytes, from, state);
}

/** Throws a TypeError that says what is wrong with the content. */
export function bodyContentBytes(content: JsonObject): Buffer {
  const { raw, base64, text, tensors } = content;
  if (raw !== undefined) return fromBase64(raw);
  if (base64 !== undefined) return fromBase64(base64);
  if (typeof text !== 'string') throw new TypeError('it has neither text nor base64');
  const head = bytesOfText(text);
  return tensors === undefined ? head : Buffer.concat([head, ...(tensors as readonly JsonObject[]).map(tensorBytes)]);
}

function inferContent(bytes: Buffer, from: Side, state: ContentState): JsonObject {
  const length = Number(state.header(from, 'inference-header-content-length') ?? Number.NaN);
  if (length >= 0 && length < bytes.length && bytes.length <= SHOWN_BYTES) {
    const content = binaryTensors(bytes, length);
    if (content !== undefined && sameBytes(() => bodyContentBytes(content), bytes)) return content;
  }
  return textContent(bytes);
}

interface TensorHead {
  readonly name?: unknown;
  readonly datatype?: unknown;
  readonly parameters?: { readonly binary_data_size?: unknown };
}

/** The binary tensor extension of /infer: JSON, then the bytes of those tensors that give their size. */
function binaryTensors(bytes: Buffer, length: number): JsonObject | undefined {
  try {
    const text = textOfBytes(bytes.subarray(0, length));
    const { inputs, outputs } = JSON.parse(text) as { readonly inputs?: readonly TensorHead[]; readonly outputs?: readonly TensorHead[] };
    let at = length;
    const tensors: JsonObject[] = [];
    for (const { name, datatype, parameters } of inputs ?? outputs ?? []) {
      if (parameters?.binary_data_size === undefined) continue;
      const data = bytes.subarray(at, (at += Number(parameters.binary_data_size)));
      const values = elementValues(String(datatype), data);
      tensors.push({
        name: String(name),
        datatype: String(datatype),
        ...(values === undefined ? { base64: data.toString('base64') } : { data: values }),
      });
    }
    return at === bytes.length ? { text, tensors } : undefined;
  } catch {
    return undefined;
  }
}

function tensorBytes({ name, datatype, data, base64 }: JsonObject): Buffer {
  if (base64 !== undefined) return fromBase64(base64);
  const known = typeof datatype === 'string' && Array.isArray(data);
  const bytes = known ? elementBytes(datatype, data as ElementValue[]) : undefined;
  if (bytes === undefined) throw new TypeError(`the tensor ${JSON.stringify(name)} cannot be encoded`);
  return bytes;
}

/** Chunks may cut characters in two, and servers send what is no UTF-8; more than one byte in eight of either is no text. */
const STRANGE_SHARE = 1 / 8;

/** `text`, where a byte that is no part of a character is the lone surrogate U+DC00 + byte, or `base64`. */
export function textContent(bytes: Buffer): JsonObject {
  if (bytes.length > SHOWN_BYTES) return { base64: bytes.toString('base64') };
  const text = textOfBytes(bytes);
  // oxlint-disable-next-line no-control-regex
  const strange = text.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\udc80-\udcff]/g)?.length ?? 0;
  return strange <= bytes.length * STRANGE_SHARE && sameBytes(() => bytesOfText(text), bytes)
    ? { text }
    : { base64: bytes.toString('base64') };
}

function sameBytes(make: () => Buffer, bytes: Buffer): boolean {
  try {
    return make().equals(bytes);
  } catch {
    return false;
  }
}

function fromBase64(value: Json): Buffer {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw new TypeError('its base64 is none');
  return Buffer.from(value, 'base64');
}
