/** Reading JSON members the way Triton does, with its texts. Source: triton_json.h (Triton 2.51). */
import { CoreError } from '../core/types.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#wire/protocol/json-value.ts';
import { JsonSyntaxError, readJson } from '#wire/protocol/json-reader.ts';

const MAX_INT64 = 9223372036854775807n;

/** Errors: INTERNAL `failed to parse the request JSON buffer: …`. */
export function parseJson(body: Uint8Array): JsonValue {
  try {
    return readJson(body);
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) throw new CoreError('INTERNAL', `failed to parse the request JSON buffer: ${thrown.message}`);
    throw thrown;
  }
}

/** The member, or undefined when there is none or `value` is no object. */
export function find(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) ? value.get(key) : undefined;
}

export function members(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw new CoreError('INTERNAL', 'attempt to get members for non-object');
  return value;
}

export function asString(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new CoreError('INTERNAL', 'attempt to access JSON non-string as string');
  return value;
}

export function asBool(value: JsonValue | undefined): boolean {
  if (typeof value !== 'boolean') throw new CoreError('INTERNAL', 'attempt to access JSON non-boolean as boolean');
  return value;
}

export function asUint(value: JsonValue | undefined): bigint {
  if (typeof value !== 'bigint' || value < 0n)
    throw new CoreError('INTERNAL', 'attempt to access JSON non-unsigned-integer as unsigned-integer');
  return value;
}

export function isInt64(value: JsonValue): value is bigint {
  return typeof value === 'bigint' && value <= MAX_INT64;
}

export function memberAsString(value: JsonValue, key: string): string {
  return asString(existing(value, key));
}

export function memberAsArray(value: JsonValue, key: string): readonly JsonValue[] {
  const member = existing(value, key);
  if (!isJsonArray(member)) throw new CoreError('INTERNAL', 'attempt to access JSON non-array as array');
  return member;
}

export function memberAsObject(value: JsonValue, key: string): JsonObject {
  const member = existing(value, key);
  if (!isJsonObject(member)) throw new CoreError('INTERNAL', 'attempt to access JSON non-object as object');
  return member;
}

function existing(value: JsonValue, key: string): JsonValue {
  const member = find(value, key);
  if (member === undefined) throw new CoreError('INTERNAL', `attempt to access non-existing object member '${key}'`);
  return member;
}

/** Puts `<text>: ` before the message of an error thrown by `read`, keeping its code. */
export function explained<T>(text: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CoreError) throw new CoreError(thrown.code, `${text}: ${thrown.message}`);
    throw thrown;
  }
}
