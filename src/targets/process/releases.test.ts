import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { spoiledBytes, spoiledJson } from '#core/testing/mutations.ts';
import { refusal } from '#core/testing/refusal.ts';
import { followCore } from '#core/profile/index.ts';
import { tritonName } from '../tritonserver/index.ts';
import { installedTriton } from './installed.ts';
import { serverRelease, serverReleases, serverTable } from './releases.ts';

describe('the table of servers', () => {
  test('has every release whose binaries are published from 2.36 to 2.51, each under its checksum', () => {
    const { releases } = serverTable();
    expect(releases.map((r) => r.version)).toEqual([36, 39, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51].map((minor) => `2.${minor}.0`));
    expect(new Set(releases.map((r) => r.sha256)).size).toBe(13);
    for (const { file, packageVersion, sha256 } of releases) {
      expect(file).toContain(`-${packageVersion}-`);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  test('has the newer cores behind the front ends of 2.51, each under the checksum of both', () => {
    const { releases, cores } = serverTable();
    const hybrids = serverReleases().slice(releases.length);
    expect(hybrids.map(({ version, container }) => [version, container])).toEqual([
      ['2.65.0', '26.01'],
      ['2.71.0', '26.07'],
    ]);
    expect(cores.releases.map(({ artifact }) => artifact)).toEqual([
      'org.bytedeco:tritonserver:2.65.0-1.5.13:jar:linux-x86_64-redist',
      'org.bytedeco:tritonserver:2.71.0-1.5.14:jar:linux-x86_64-redist',
    ]);
    for (const { sha256, core } of hybrids) {
      expect(sha256).toBe(serverRelease('2.51').sha256);
      expect(core?.parts.frontEnds).toBe('2.51.0');
      expect(core?.release.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  test('says what a hybrid is in a name that leads to its profile, and leaves every other name alone', () => {
    for (const { version, core } of serverReleases()) {
      const name = tritonName(version, core?.parts.frontEnds);
      expect(name).toBe(core === undefined ? version : `${version} core with the front ends of 2.51`);
      const id = version.replace(/\.0$/, '');
      const followed = followCore('ideal', name);
      expect(followed).toEqual({ profile: `ideal,core=${core === undefined ? id : `${id}+2.51`}`, note: undefined });
    }
  });

  test('finds a release by its short and its whole version, and names all where there is none', () => {
    expect(serverRelease('2.47')).toEqual(serverRelease('2.47.0'));
    expect(serverRelease('2.47.0').container).toBe('24.06');
    expect(serverRelease('2.71')).toEqual(serverRelease('2.71.0'));
    expect(serverRelease('2.51').core).toBeUndefined();
    expect(() => serverRelease('2.37')).toThrow('[triton-unknown] there is no tritonserver 2.37 to lay out');
  });
});

test('a spoiled table is refused with its place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep table '));
  const path = join(folder, 'table.json');
  const good = JSON.stringify(serverTable());
  const content = fc.oneof(
    spoiledBytes(good),
    spoiledJson(JSON.parse(good)).map((json) => JSON.stringify(json)),
  );
  fc.assert(
    fc.property(content, (text) => {
      writeFileSync(path, text);
      expect(refusal(() => serverRelease('2.51', serverTable(path)))).toMatch(
        /^(accepted$|\[triton-table-malformed\] .*table\.json(:\d+:\d+|, .+|): |\[triton-unknown\])/s,
      );
    }),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});

describe('a tritonserver of this host', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep installed '));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has its back ends and caches beside bin/, seen through a symbolic link', () => {
    mkdirSync(join(folder, 'opt/bin'), { recursive: true });
    mkdirSync(join(folder, 'opt/backends'));
    const program = join(folder, 'opt/bin/tritonserver');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    symlinkSync(program, join(folder, 'link'));
    expect(installedTriton(join(folder, 'link'))).toEqual({
      program,
      backends: join(folder, 'opt/backends'),
      caches: undefined,
      python: undefined,
      wheelSha256: undefined,
    });
  });

  test.each([
    ['nothing', () => {}, 'ENOENT'],
    ['a folder', (path: string) => mkdirSync(path), 'it is no file'],
    ['a text', (path: string) => (writeFileSync(path, ''), chmodSync(path, 0o644)), 'EACCES'],
  ])('%s cannot be started, and why', (name, make, why) => {
    const path = join(folder, name);
    make(path);
    expect(() => installedTriton(path)).toThrow(`[triton-missing] ${path} is no program that can be started: ${why}`);
  });
});
