/** The small language in which the conformance tables say what a reply must look like. */

export type Expected<T> = T | RegExp | ((value: T) => boolean);

/** Matches a part of an object: every key named must match, others may be there. */
export function matches(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual);
  if (typeof expected === 'function') return (expected as (v: unknown) => boolean)(actual);
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length && expected.every((e, i) => matches(actual[i], e));
  }
  if (expected !== null && typeof expected === 'object') {
    if (actual === null || typeof actual !== 'object') return false;
    return Object.entries(expected).every(([k, e]) => matches((actual as Record<string, unknown>)[k], e));
  }
  return Object.is(actual, expected);
}

export function show(value: unknown): string {
  const text = JSON.stringify(value, (_, v: unknown) =>
    v instanceof RegExp
      ? String(v)
      : typeof v === 'function'
        ? `<${v.name || 'condition'}>`
        : v instanceof Uint8Array
          ? `<${v.length} bytes>`
          : v,
  );
  return text === undefined ? 'undefined' : text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
