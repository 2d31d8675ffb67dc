/**
 * Doubles as RapidJSON prints them: Grisu2 in the version that Triton 2.51 carries, whose last digit is often not that
 * of the closest 17-digit spelling (1.6933884620666505 where JavaScript says 1.6933884620666504; both read back as the
 * same double). Source: rapidjson/internal/dtoa.h and diyfp.h, v1.1.0; checked against answers of a real server.
 */

/** With a fraction or an exponent, always: `1.0`, `1e30`; NaN and Infinity as literals. */
export function jsonDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value < 0 || Object.is(value, -0)) return `-${jsonDouble(-value)}`;
  if (Number.isInteger(value) && value < 1e9) return `${value}.0`;
  const { digits, exponent } = grisu2(value);
  return placed(digits, exponent);
}

/** digits × 10^exponent, by the same borders as JavaScript's Number.toString. */
function placed(digits: string, exponent: number): string {
  const point = digits.length + exponent;
  if (exponent >= 0 && point <= 21) return `${digits}${'0'.repeat(exponent)}.0`;
  if (point > 0 && point <= 21) return `${digits.slice(0, point)}.${digits.slice(point)}`;
  if (point > -6 && point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  return `${digits[0] ?? ''}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${point - 1}`;
}

const MASK64 = (1n << 64n) - 1n;
const HIDDEN_BIT = 1n << 52n;

/** f × 2^e with a 64-bit significand. */
interface DiyFp {
  readonly f: bigint;
  readonly e: number;
}

const view = new DataView(new ArrayBuffer(8));

function grisu2(value: number): { readonly digits: string; readonly exponent: number } {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & (HIDDEN_BIT - 1n);
  const v: DiyFp = biased === 0 ? { f: fraction, e: -1074 } : { f: fraction | HIDDEN_BIT, e: biased - 1075 };
  const plus = normalized({ f: (v.f << 1n) + 1n, e: v.e - 1 });
  const lower: DiyFp = v.f === HIDDEN_BIT ? { f: (v.f << 2n) - 1n, e: v.e - 2 } : { f: (v.f << 1n) - 1n, e: v.e - 1 };
  const minus: DiyFp = { f: lower.f << BigInt(lower.e - plus.e), e: plus.e };
  const { power, k } = cachedPower(plus.e);
  const w = product(normalized(v), power);
  const top = product(plus, power).f - 1n;
  const bottom = product(minus, power).f + 1n;
  return digitsOf(w.f, top, w.e, top - bottom, k);
}

function normalized(x: DiyFp): DiyFp {
  const shift = 64 - x.f.toString(2).length;
  return { f: x.f << BigInt(shift), e: x.e - shift };
}

function product(a: DiyFp, b: DiyFp): DiyFp {
  return { f: (a.f * b.f + (1n << 63n)) >> 64n, e: a.e + b.e + 64 };
}

const powers = new Map<number, DiyFp>();

/** The cached power of ten (every eighth from 1e-348 on) that brings the exponent into reach, and its negated power. */
function cachedPower(e: number): { readonly power: DiyFp; readonly k: number } {
  const index = (Math.ceil((-61 - e) * 0.30102999566398114 + 347) >> 3) + 1;
  const decimal = -348 + index * 8;
  let power = powers.get(decimal);
  if (power === undefined) {
    power = powerOfTen(decimal);
    powers.set(decimal, power);
  }
  return { power, k: -decimal };
}

/** Rounded to 64 bits. */
function powerOfTen(decimal: number): DiyFp {
  const scale = 1300;
  const scaled = decimal >= 0 ? (10n ** BigInt(decimal)) << BigInt(scale) : (1n << BigInt(scale)) / 10n ** BigInt(-decimal);
  const excess = scaled.toString(2).length - 64;
  return { f: (scaled + (1n << BigInt(excess - 1))) >> BigInt(excess), e: excess - scale };
}

function digitsOf(w: bigint, top: bigint, e: number, width: bigint, k: number): { readonly digits: string; readonly exponent: number } {
  const shift = BigInt(-e);
  const one = 1n << shift;
  const distance = top - w;
  const whole = (top >> shift).toString();
  let rest = top & (one - 1n);
  let delta = width;
  const out: number[] = [];
  for (let kappa = whole.length - 1, i = 0; i < whole.length; i++, kappa--) {
    out.push(Number(whole[i]));
    const left = (BigInt(whole.slice(i + 1) || '0') << shift) + rest;
    if (left <= delta) {
      round(out, delta, left, (10n ** BigInt(kappa)) << shift, distance);
      return { digits: out.join(''), exponent: k + kappa };
    }
  }
  for (let index = 1; ; index++) {
    rest *= 10n;
    delta *= 10n;
    out.push(Number(rest >> shift));
    rest &= one - 1n;
    if (rest < delta) {
      // From the ninth fractional digit on that version knows no power of ten and does not round any more.
      round(out, delta, rest, one, index < 9 ? (distance * 10n ** BigInt(index)) & MASK64 : 0n);
      return { digits: out.join('').replace(/^0+/, ''), exponent: k - index };
    }
  }
}

function round(digits: number[], delta: bigint, start: bigint, step: bigint, distance: bigint): void {
  let rest = start;
  while (rest < distance && delta - rest >= step && (rest + step < distance || distance - rest > rest + step - distance)) {
    digits[digits.length - 1] = (digits.at(-1) ?? 0) - 1;
    rest += step;
  }
}
