import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { LockstepError } from '#core/errors/index.ts';
import { loadConfigFile } from './load-config-file.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep config of my own '));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
let count = 0;
const file = (text: string) => {
  const path = join(cwd, `${count++}.ts`);
  writeFileSync(path, text);
  return path;
};
const failing = (path: string, options = {}) =>
  loadConfigFile(path, options).then(
    () => expect.unreachable('it was loaded'),
    ({ code, message, hint, context }: LockstepError) => ({ code, message, hint, context }),
  );

test('a file in TypeScript is loaded with what it imports, and its timers hold nobody up', async () => {
  const path = file(
    "import { join } from 'node:path';\nsetInterval(() => {}, 1000);\nexport default { seed: 3 as number, json: join('a', 'b') }",
  );
  expect(await loadConfigFile(path)).toEqual([
    ['seed', 3],
    ['json', 'a/b'],
  ]);
});

test.concurrent.each([
  ['process.exit(0)', 'ends its process by itself, with code 0', 'process.exit', undefined],
  ['await new Promise(() => {}); export default {}', 'awaits what never comes', 'take out of it what waits', undefined],
  ["\nthrow new Error('boom')", 'boom', 'Only syntax', 2],
  ['throw null', 'null', 'Only syntax', undefined],
  ['export default {\n  seed: 1\n  json: 2\n}', "Expected ','", 'Only syntax', 3],
  ['\n\nenum A {\n  b,\n}', 'enum is not supported', 'no enums', 3],
  ['\nexport default { seed: sed }', 'sed is not defined', 'Only syntax', 2],
  ["import { nothing } from 'node:path';\nexport default {}", "named 'nothing'", 'Only syntax', 1],
])('%j is told with its place and a next step', async (text, words, hint, line) => {
  const path = file(text);
  expect(await failing(path)).toEqual({
    code: 'config-file-unreadable',
    message: expect.stringContaining(words),
    hint: expect.stringContaining(hint),
    context: { file: path, ...(text.includes('process.exit') || text.includes('await') ? {} : { place: line && `${path}:${line}` }) },
  });
});

test('a field that holds no data is named', async () => {
  expect(await failing(file('export default { seed: 1, json: () => 2 }'))).toMatchObject({
    code: 'value-invalid',
    message: expect.stringMatching(/json in \d+\.ts must be data; got a function$/),
  });
});

test('one that loops is stopped at the deadline, and at once by an interruption', async () => {
  const path = file('for (;;);');
  expect(await failing(path, { withinMs: 200 })).toMatchObject({
    code: 'config-file-unreadable',
    message: expect.stringContaining('waited 200 ms for'),
    hint: expect.stringContaining('loops'),
  });
  const started = join(cwd, 'started');
  const looping = file(`import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(started)}, '');\nfor (;;);`);
  const interrupt = new AbortController();
  const failed = failing(looping, { signal: interrupt.signal });
  await expect.poll(() => existsSync(started), { interval: 10 }).toBe(true);
  interrupt.abort();
  expect(await failed).toMatchObject({ code: 'interrupted', message: expect.stringContaining('.ts to be loaded') });
});
