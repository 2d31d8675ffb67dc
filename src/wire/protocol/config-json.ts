import protobuf from 'protobufjs';
import { LockstepError } from '#core/errors/index.ts';
import { modelConfigType } from './config-schema.ts';
import type { ModelConfig } from './model-config.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Fields that releases up to 2.51 do not know and therefore do not print; of newer ones the embedded server adds them. */
const UNKNOWN_TO_2_51: ReadonlySet<string> = new Set(['.inference.ModelEnsembling.max_inflight_requests']);

/**
 * Protobuf message → JSON form of /config: scalars, lists, maps and enums with their defaults, sub-messages and oneof
 * members only when set, 64-bit integers as numbers.
 */
export function configJson(message: object): ModelConfig {
  return messageJson(modelConfigType(), message as Record<string, unknown>) as unknown as ModelConfig;
}

function messageJson(type: protobuf.Type, message: Record<string, unknown>): { [key: string]: Json } {
  const out: { [key: string]: Json } = {};
  for (const field of type.fieldsArray) {
    if (UNKNOWN_TO_2_51.has(`${type.fullName}.${field.name}`)) continue;
    const value = message[field.name];
    const isSet = Object.hasOwn(message, field.name) && value !== null && value !== undefined;
    if (field instanceof protobuf.MapField) {
      const entries = Object.entries((isSet ? value : {}) as Record<string, unknown>);
      out[field.name] = Object.fromEntries(entries.map(([k, v]) => [k, valueJson(field, v)]));
    } else if (field.repeated) {
      out[field.name] = ((isSet ? value : []) as unknown[]).map((v) => valueJson(field, v));
    } else if (isSet) {
      out[field.name] = valueJson(field, value);
    } else if (field.partOf === null && !(field.resolvedType instanceof protobuf.Type)) {
      out[field.name] = defaultJson(field);
    }
  }
  return out;
}

function defaultJson(field: protobuf.Field): Json {
  if (field.resolvedType instanceof protobuf.Enum) return field.resolvedType.valuesById[0] ?? 0;
  return field.type === 'string' ? '' : field.type === 'bool' ? false : 0;
}

function valueJson(field: protobuf.Field, value: unknown): Json {
  if (field.resolvedType instanceof protobuf.Type) return messageJson(field.resolvedType, value as Record<string, unknown>);
  if (field.resolvedType instanceof protobuf.Enum) {
    return typeof value === 'number' ? (field.resolvedType.valuesById[value] ?? value) : String(value);
  }
  if (field.type === 'string' || field.type === 'bool') return value as Json;
  return Number(value);
}

/**
 * JSON text of a load request's `config` parameter → ModelConfig. Unknown keys are refused, as protobuf's own JSON
 * parser does.
 *
 * Errors: `config-malformed`.
 */
export function parseConfigJson(text: string): ModelConfig {
  try {
    const value: unknown = JSON.parse(text);
    refuseUnknownKeys(modelConfigType(), value, 'config');
    return configJson(modelConfigType().fromObject(value as { [key: string]: unknown }));
  } catch (thrown) {
    throw LockstepError.from(thrown, 'config-malformed');
  }
}

function refuseUnknownKeys(type: protobuf.Type, value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LockstepError('config-malformed', `${path} is no JSON object`);
  }
  for (const [key, member] of Object.entries(value)) {
    const field = type.fields[key];
    if (field === undefined) throw new LockstepError('config-malformed', `${path} has no field "${key}"`);
    if (!(field.resolvedType instanceof protobuf.Type)) continue;
    const members = Array.isArray(member) ? member : field instanceof protobuf.MapField ? Object.values(member as object) : [member];
    for (const m of members) refuseUnknownKeys(field.resolvedType, m, `${path}.${key}`);
  }
}
