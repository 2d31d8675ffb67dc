import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';

/** Where the recipe of real servers lies. */
export const TRITON_DATA = join(PACKAGE_ROOT, 'docker/triton');

/** docker/triton/tritonserver.json: which servers, from which package, under which checksums. */
export interface ServerTable {
  readonly package: string;
  readonly platform: string;
  /** Series of the CPython whose stub is used, as `3.11`. */
  readonly python: string;
  readonly libpython: string;
  readonly layout: number;
  readonly releases: readonly ServerRelease[];
}

export interface ServerRelease {
  /** As the server says it on /v2. */
  readonly version: string;
  /** NVIDIA's container with this server, as `24.10`. */
  readonly container: string;
  readonly packageVersion: string;
  readonly file: string;
  readonly sha256: string;
}

export function serverTable(): ServerTable {
  return JSON.parse(readFileSync(join(TRITON_DATA, 'tritonserver.json'), 'utf8')) as ServerTable;
}

/** The release of a version, as `2.47` or `2.47.0`. Errors: `triton-unknown`. */
export function serverRelease(version: string, { releases } = serverTable()): ServerRelease {
  const found = releases.find((release) => release.version === version || release.version === `${version}.0`);
  if (found !== undefined) return found;
  throw new LockstepError('triton-unknown', `there is no tritonserver ${version} to lay out`, {
    hint: `Use one of ${releases.map((release) => release.version.replace(/\.0$/, '')).join(' ')}, or the path of a tritonserver program.`,
  });
}
