/**
 * The part of Pydantic's lax validation that the request schemas use, with its error types, texts and order.
 * Source: pydantic-core (2.x) as seen in the bodies of request-schema.cases.json.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type WritableJson } from '#wire/protocol/json-value.ts';

export type Location = readonly (string | number)[];

export interface SchemaError {
  readonly type: string;
  readonly loc: Location;
  readonly msg: string;
  readonly input: JsonValue;
  readonly ctx?: ReadonlyMap<string, WritableJson>;
}

/** The validated value, or the errors. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: readonly SchemaError[] };

export interface Validator<T> {
  /** Name in the location of a union's errors. */
  readonly label: string;
  check(input: JsonValue, loc: Location): Checked<T>;
}

const good = <T>(value: T): Checked<T> => ({ ok: true, value });
const bad = (type: string, msg: string, loc: Location, input: JsonValue, ctx?: ReadonlyMap<string, WritableJson>): Checked<never> => ({
  ok: false,
  errors: [ctx === undefined ? { type, loc, msg, input } : { type, loc, msg, input, ctx }],
});

export const str: Validator<string> = {
  label: 'str',
  check: (input, loc) => (typeof input === 'string' ? good(input) : bad('string_type', 'Input should be a valid string', loc, input)),
};

const TRUE = new Set(['1', 'on', 't', 'true', 'y', 'yes']);
const FALSE = new Set(['0', 'off', 'f', 'false', 'n', 'no']);

export const bool: Validator<boolean> = {
  label: 'bool',
  check(input, loc) {
    if (typeof input === 'boolean') return good(input);
    if (typeof input === 'string' || typeof input === 'bigint' || input === 0 || input === 1) {
      const text = String(input).toLowerCase();
      if (TRUE.has(text)) return good(true);
      if (FALSE.has(text)) return good(false);
      return bad('bool_parsing', 'Input should be a valid boolean, unable to interpret input', loc, input);
    }
    return bad('bool_type', 'Input should be a valid boolean', loc, input);
  },
};

export interface Bounds<T> {
  readonly ge?: T;
  readonly le?: T;
}

function bounded<T extends bigint | number>(value: T, bounds: Bounds<T>, loc: Location, input: JsonValue): Checked<T> {
  if (bounds.ge !== undefined && value < bounds.ge)
    return bad('greater_than_equal', `Input should be greater than or equal to ${bounds.ge}`, loc, input, new Map([['ge', bounds.ge]]));
  if (bounds.le !== undefined && value > bounds.le)
    return bad('less_than_equal', `Input should be less than or equal to ${bounds.le}`, loc, input, new Map([['le', bounds.le]]));
  return good(value);
}

export function int(bounds: Bounds<bigint> = {}): Validator<bigint> {
  return {
    label: 'int',
    check(input, loc) {
      const parsed = parseInteger(input, loc);
      return parsed.ok ? bounded(parsed.value, bounds, loc, input) : parsed;
    },
  };
}

function parseInteger(input: JsonValue, loc: Location): Checked<bigint> {
  switch (typeof input) {
    case 'bigint':
      return good(input);
    case 'boolean':
      return good(input ? 1n : 0n);
    case 'number':
      if (!Number.isFinite(input)) return bad('finite_number', 'Input should be a finite number', loc, input);
      return Number.isInteger(input)
        ? good(BigInt(input))
        : bad('int_from_float', 'Input should be a valid integer, got a number with a fractional part', loc, input);
    case 'string': {
      const digits = /^\s*([-+]?)([0-9]+(?:_[0-9]+)*)(?:\.0*)?\s*$/.exec(input);
      if (digits === null) return bad('int_parsing', 'Input should be a valid integer, unable to parse string as an integer', loc, input);
      const value = BigInt((digits[2] ?? '').replaceAll('_', ''));
      return good(digits[1] === '-' ? -value : value);
    }
    default:
      return bad('int_type', 'Input should be a valid integer', loc, input);
  }
}

export function float(bounds: Bounds<number> = {}): Validator<number> {
  return {
    label: 'float',
    check(input, loc) {
      if (typeof input === 'number' || typeof input === 'bigint' || typeof input === 'boolean') {
        const value = Number(input);
        // NaN satisfies no bound.
        if (Number.isNaN(value) && bounds.ge !== undefined)
          return bad(
            'greater_than_equal',
            `Input should be greater than or equal to ${bounds.ge}`,
            loc,
            input,
            new Map([['ge', bounds.ge]]),
          );
        return bounded(value, bounds, loc, input);
      }
      if (typeof input !== 'string') return bad('float_type', 'Input should be a valid number', loc, input);
      const value = /^\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*$/.test(input) ? Number(input) : Number.NaN;
      if (Number.isNaN(value))
        return bad('float_parsing', 'Input should be a valid number, unable to parse string as a number', loc, input);
      return bounded(value, bounds, loc, input);
    },
  };
}

/** A string out of a fixed set; `name` is the class as unions show it. */
export function oneOf<const T extends string>(name: string, values: readonly T[]): Validator<T> {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length === 1 ? (quoted[0] ?? '') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return {
    label: `enum[${name}]`,
    check: (input, loc) => {
      const found = values.find((value) => value === input);
      return found === undefined ? bad('enum', `Input should be ${expected}`, loc, input, new Map([['expected', expected]])) : good(found);
    },
  };
}

/** Literal[…]: one of these strings. */
export function literal<const T extends string>(...values: readonly T[]): Validator<T> {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length === 1 ? (quoted[0] ?? '') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return {
    label: `literal[${quoted.join(',')}]`,
    check: (input, loc) => {
      const found = values.find((value) => value === input);
      return found === undefined
        ? bad('literal_error', `Input should be ${expected}`, loc, input, new Map([['expected', expected]]))
        : good(found);
    },
  };
}

export function list<T>(items: Validator<T>, minLength = 0): Validator<readonly T[]> {
  return {
    label: `list[${items.label}]`,
    check(input, loc) {
      if (!isJsonArray(input)) return bad('list_type', 'Input should be a valid list', loc, input);
      const results = input.map((item, i) => items.check(item, [...loc, i]));
      const errors = results.flatMap((result) => (result.ok ? [] : result.errors));
      if (errors.length > 0) return { ok: false, errors };
      if (input.length < minLength) {
        const noun = minLength === 1 ? 'item' : 'items';
        return bad(
          'too_short',
          `List should have at least ${minLength} ${noun} after validation, not ${input.length}`,
          loc,
          input,
          new Map<string, WritableJson>([
            ['field_type', 'List'],
            ['min_length', BigInt(minLength)],
            ['actual_length', BigInt(input.length)],
          ]),
        );
      }
      return good(results.flatMap((result) => (result.ok ? [result.value] : [])));
    },
  };
}

export function dict<T>(values: Validator<T>): Validator<ReadonlyMap<string, T>> {
  return {
    label: `dict[str,${values.label}]`,
    check(input, loc) {
      if (!isJsonObject(input)) return bad('dict_type', 'Input should be a valid dictionary', loc, input);
      const out = new Map<string, T>();
      const errors: SchemaError[] = [];
      for (const [key, value] of input) {
        const result = values.check(value, [...loc, key]);
        if (result.ok) out.set(key, result.value);
        else errors.push(...result.errors);
      }
      return errors.length > 0 ? { ok: false, errors } : good(out);
    },
  };
}

/** The first member that accepts; otherwise the errors of all, each under its member's label. */
export function union<T>(...members: readonly Validator<T>[]): Validator<T> {
  return {
    label: members.map((member) => member.label).join(','),
    check(input, loc) {
      const errors: SchemaError[] = [];
      for (const member of members) {
        const result = member.check(input, [...loc, member.label]);
        if (result.ok) return result;
        errors.push(...result.errors);
      }
      return { ok: false, errors };
    },
  };
}

/** A RootModel: transparent but for its name. */
export function named<T>(label: string, inner: Validator<T>): Validator<T> {
  return { label, check: (input, loc) => inner.check(input, loc) };
}

/** Optional[X]: null passes as undefined. */
export function nullable<T>(inner: Validator<T>): Validator<T | undefined> {
  return { label: inner.label, check: (input, loc) => (input === null ? good(undefined) : inner.check(input, loc)) };
}

export const anything: Validator<JsonValue> = { label: 'any', check: (input) => good(input) };

/** A field: required unless it has a default. */
export interface Field<T> {
  readonly validator: Validator<T>;
  /** The name that is looked for first and that errors show (`validation_alias`, populate_by_name). */
  readonly alias?: string;
  readonly fallback?: { readonly value: T };
}

export const required = <T>(validator: Validator<T>): Field<T> => ({ validator });
export const optional = <T>(validator: Validator<T>, value?: T): Field<T | undefined> => ({
  validator: nullable(validator),
  fallback: { value },
});

type Fields = Readonly<Record<string, Field<unknown>>>;
export type Model<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** A BaseModel: fields in their order, then (extra forbidden) the unknown ones in the order of the request. */
export function model<F extends Fields>(name: string, fields: F, extra: 'ignore' | 'forbid' = 'ignore'): Validator<Model<F>> {
  return {
    label: name,
    check(input, loc) {
      if (!isJsonObject(input))
        return bad('model_attributes_type', 'Input should be a valid dictionary or object to extract fields from', loc, input);
      const out: Record<string, unknown> = {};
      const errors: SchemaError[] = [];
      const known = new Set<string>();
      for (const [key, field] of Object.entries(fields)) {
        const shown = field.alias ?? key;
        const name = input.has(shown) ? shown : key;
        known.add(name);
        const value = input.get(name);
        if (value === undefined) {
          if (field.fallback === undefined) errors.push({ type: 'missing', loc: [...loc, shown], msg: 'Field required', input });
          else out[key] = field.fallback.value;
          continue;
        }
        const result = field.validator.check(value, [...loc, shown]);
        if (result.ok) out[key] = result.value;
        else errors.push(...result.errors);
      }
      if (extra === 'forbid') errors.push(...forbidden(input, known, loc));
      return errors.length > 0 ? { ok: false, errors } : good(out as Model<F>);
    },
  };
}

function forbidden(input: JsonObject, known: ReadonlySet<string>, loc: Location): SchemaError[] {
  return [...input]
    .filter(([key]) => !known.has(key))
    .map(([key, value]) => ({ type: 'extra_forbidden', loc: [...loc, key], msg: 'Extra inputs are not permitted', input: value }));
}

/**
 * A model with validators in mode "before": they see the raw object, the last of the class first, and the first text
 * that one gives is the only error. What is no object breaks them, as `.get` of a list breaks Python's.
 */
export function before<T>(inner: Validator<T>, ...checks: readonly ((data: JsonObject) => string | undefined)[]): Validator<T> {
  return {
    label: inner.label,
    check(input, loc) {
      if (!isJsonObject(input)) throw new TypeError("object has no attribute 'get'");
      for (const check of checks.toReversed()) {
        const text = check(input);
        if (text !== undefined) return bad('value_error', `Value error, ${text}`, loc, input, new Map([['error', text]]));
      }
      return inner.check(input, loc);
    },
  };
}

/** The errors as FastAPI's 422 body prints them. */
export function errorsJson(errors: readonly SchemaError[]): WritableJson {
  const details = errors.map((error) => {
    const entry = new Map<string, WritableJson>([
      ['type', error.type],
      ['loc', error.loc.map((part) => (typeof part === 'number' ? BigInt(part) : part))],
      ['msg', error.msg],
      ['input', error.input as WritableJson],
    ]);
    if (error.ctx !== undefined) entry.set('ctx', error.ctx);
    return entry;
  });
  return new Map([['detail', details]]);
}
