import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assertWritable, writeFileAtomic } from './index.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lockstep-files-'));
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true });
});

test('a file is written with its folders, and nothing else is left', () => {
  writeFileAtomic(join(dir, 'a/b/c.txt'), 'new');
  expect(readFileSync(join(dir, 'a/b/c.txt'), 'utf8')).toBe('new');
  expect(readdirSync(join(dir, 'a/b'))).toEqual(['c.txt']);
});

test('a write that cannot be finished leaves the old content and no temporary file', () => {
  writeFileSync(join(dir, 'taken'), 'old');
  expect(() => writeFileAtomic(join(dir, 'taken/x.json'), 'new')).toThrow(expect.objectContaining({ code: 'file-not-writable' }));
  expect(readdirSync(dir)).toEqual(['taken']);
  expect(readFileSync(join(dir, 'taken'), 'utf8')).toBe('old');
});

test.each(['/proc/nope/x.json', '/dev/null/x.json', '/tmp'])('%s is refused, not waited for', (path) => {
  expect(() => assertWritable(path)).toThrow(
    expect.objectContaining({ code: 'file-not-writable', hint: expect.stringContaining('nothing was run') }),
  );
});

test('asking whether a file can be written leaves no trace of the question', () => {
  assertWritable(join(dir, 'x.json'));
  expect(readdirSync(dir)).toEqual([]);
});
