/**
 * Bodies as Pydantic models print them. Whole answers go through Python's json, streams through Pydantic's own writer,
 * which spells small floats differently; both keep 1.0 apart from 1.
 */
import { pythonFloat } from '../fastapi/index.ts';

/** A number that is a float upstream, whatever its value. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type Dumpable = null | boolean | number | string | Float | readonly Dumpable[] | { readonly [key: string]: Dumpable };

/** JSONResponse(content=model.model_dump()). */
export function dumpWhole(value: Dumpable): string {
  return dump(value, pythonFloat, false);
}

/** model_dump_json(), or with `exclude_none`: members that are null are left out. */
export function dumpChunk(value: Dumpable, excludeNone: boolean): string {
  return dump(value, ryuFloat, excludeNone);
}

function dump(value: Dumpable, float: (value: number) => string, excludeNone: boolean): string {
  if (value instanceof Float) return float(value.value);
  if (Array.isArray(value)) return `[${value.map((item: Dumpable) => dump(item, float, excludeNone)).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value as { readonly [key: string]: Dumpable }).filter(([, member]) => !excludeNone || member !== null);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${dump(member, float, excludeNone)}`).join(',')}}`;
}

/** The shortest digits, with an exponent below 1e-5 and from 1e16 on. Source: the crate ryu, pretty/mod.rs. */
function ryuFloat(value: number): string {
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (value !== 0 && (exponent < -5 || exponent >= 16)) return `${digits}e${exponent}`;
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') ? text : `${text}.0`;
}
