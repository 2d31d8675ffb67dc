/** Ways to spoil a file, for tests. */
import fc from 'fast-check';

// oxlint-disable-next-line typescript/no-explicit-any -- any part of any JSON may be changed.
type Json = any;

/** What stands in files by mistake: other types, edges of ranges, words and shapes that mean something elsewhere in them. */
const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<Json>(null, true, '', 0, -1, 1.5, 1e300, 512, [], {}, [[]], ['a', 'b'], ' ', '\u0000', '\ud800'),
  fc.constantFrom<Json>('Sequence', 'BPE', 'always', 'constructor', '__proto__', 'x'.repeat(2000)),
  fc.integer({ min: 21, max: 500 }).map((depth) => nested(depth)),
);

function nested(depth: number): Json {
  let value: Json = [];
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

/** A JSON value with one part dropped, replaced, doubled, or exchanged for another part of it. */
export function spoiledJson(value: Json): fc.Arbitrary<Json> {
  const paths = pathsOf(value).slice(1);
  const path = fc.constantFrom(...paths);
  return fc.tuple(path, fc.constantFrom('drop', 'replace', 'replace', 'exchange', 'double'), odd, path).map(([at, how, other, from]) => {
    const root = structuredClone(value);
    const parent = at.slice(0, -1).reduce((part, key) => part[key], root);
    const key = at.at(-1) ?? '';
    if (how === 'drop') {
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
    } else if (how === 'double' && Array.isArray(parent)) {
      parent.push(parent[key as number]);
    } else {
      parent[key] = how === 'exchange' ? from.reduce((part: Json, step) => part[step], value) : other;
    }
    return root;
  });
}

/** Of long lists and objects only the first parts: the rest are of their kind. */
function pathsOf(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value).slice(0, 12) : [];
  return [at, ...keys.flatMap((key) => pathsOf(value[key], [...at, Array.isArray(value) ? Number(key) : key]))];
}

/** A file cut off, with a byte that is no UTF-8, with a byte order mark, a merge conflict, or text behind its end. */
export function spoiledBytes(text: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(text);
  const at = fc.nat(bytes.length - 1);
  return fc.oneof(
    at.map((end) => bytes.subarray(0, end)),
    fc
      .tuple(at, fc.integer({ min: 0x80, max: 0xff }))
      .map(([i, byte]) => Buffer.concat([bytes.subarray(0, i), Buffer.of(byte), bytes.subarray(i)])),
    fc
      .tuple(at, fc.integer({ min: 0, max: 0x7f }))
      .map(([i, byte]) => Buffer.concat([bytes.subarray(0, i), Buffer.of(byte), bytes.subarray(i + 1)])),
    fc.constantFrom('\ufeff', '<<<<<<< HEAD\n').map((before) => Buffer.from(before + text)),
    fc.constantFrom('}', '\n>>>>>>> main', '\0').map((behind) => Buffer.from(text + behind)),
  );
}
