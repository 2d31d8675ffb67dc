/**
 * JSON as Triton and Python read it: integers and fractions are different things (`5` is not `5.0`), and NaN and
 * Infinity are values. Integers are bigint, everything else written as a number is number.
 */
export type JsonValue = null | boolean | bigint | number | string | readonly JsonValue[] | JsonObject;
/** Members in the order of the text. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** What can be written: also bytes, which become a string without being checked, since Triton writes invalid UTF-8 as it is. */
export type WritableJson =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | readonly WritableJson[]
  | ReadonlyMap<string, WritableJson>;

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
