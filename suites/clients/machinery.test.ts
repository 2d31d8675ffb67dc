import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { runClient } from '#targets/clients/index.ts';
import { readPerfRecords } from './perf-record.ts';
import { requestFrom } from './recorded-request.ts';
import { untilWhole } from './whole-export.ts';
import { workFolder } from './work-folder.ts';

const shell = (script: string, ms = 10_000) => runClient({ program: '/bin/sh', args: ['-c', script], name: 'sh', ms });
const failing = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it held'),
    (error: unknown) => error,
  );

test('a client that fails says so with its code and its last words', async () => {
  expect(await failing(shell('echo first; echo last >&2; exit 3'))).toMatchObject({
    code: 'client-failed',
    message: expect.stringContaining('sh ended with 3'),
    context: { output: expect.stringContaining('last') },
  });
  expect(await failing(runClient({ program: '/nowhere/client', args: [], name: 'none', ms: 10_000 }))).toMatchObject({
    code: 'client-failed',
  });
});

test('at the deadline a client is killed with what it started', async () => {
  using folder = workFolder();
  const file = join(folder.path, 'pid');
  expect(await failing(shell(`sleep 60 & echo $! > ${file}; wait`, 500))).toMatchObject({ code: 'deadline' });
  const pid = readFileSync(file, 'utf8').trim();
  await pollUntil({ ms: 5000, what: 'the child to be gone', everyMs: 20 }, () => (isRunning(pid) ? undefined : true));
});

/** A process that nobody has waited for yet is no running one. */
function isRunning(pid: string): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

test('an export that ends in the middle is told apart, asked for again, and never taken for a short one', async () => {
  using folder = workFolder();
  const path = join(folder.path, 'out.json');
  for (const cut of ['', '{"experiments":[{"requests":[{"timestamp":1']) {
    writeFileSync(path, cut);
    expect(() => readPerfRecords(path)).toThrow(/client-export-cut/);
  }
  writeFileSync(path, '{"requests":[]}');
  expect(() => readPerfRecords(path)).toThrow(/client-record-unread/);
  writeFileSync(path, '');
  let runs = 0;
  const whole = await untilWhole(async () => {
    if (++runs === 3) writeFileSync(path, '{"experiments":[{"requests":[]}]}');
    return readPerfRecords(path);
  });
  expect(whole).toEqual({ value: [], notes: ['2 of its exports were cut'] });
  expect(await failing(untilWhole(async () => readPerfRecords(join(folder.path, 'none'))))).toMatchObject({ code: 'ENOENT' });
});

test('what was asked is read from the record, in every spelling of the clients', () => {
  const limits = { maxTokens: 8 };
  expect(requestFrom({ text_input: 'a', max_tokens: 8 })).toMatchObject({ prompt: { kind: 'text', text: 'a' }, limits });
  expect(requestFrom({ text_input: ['a'], max_tokens: 8 })).toMatchObject({ prompt: { kind: 'text', text: 'a' }, limits });
  expect(requestFrom({ input_ids: 4, request_output_len: 8 })).toMatchObject({ prompt: { kind: 'ids', ids: [4] }, limits });
  expect(requestFrom({ input_ids: [4, 5], request_output_len: 8, min_length: 8 })).toMatchObject({
    limits: { maxTokens: 8, minTokens: 8 },
  });
  expect(() => requestFrom({ max_tokens: 8 })).toThrow(/client-record-unread/);
  expect(() => requestFrom({ text_input: 'a' })).toThrow(/client-record-unread/);
});
