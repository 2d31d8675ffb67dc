import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';

/** Where the recipe of real servers lies. */
export const TRITON_DATA = join(PACKAGE_ROOT, 'docker/triton');

export interface WheelPin {
  readonly package: string;
  readonly packageVersion: string;
  readonly platform: string;
  readonly file: string;
  readonly sha256: string;
}

/** docker/triton/tritonserver.json: which servers, from which package, under which checksums. */
export interface ServerTable {
  readonly package: string;
  readonly platform: string;
  /** Series of the CPython whose stub is used, as `3.11`. */
  readonly python: string;
  readonly libpython: string;
  readonly layout: number;
  readonly releases: readonly ServerRelease[];
  /** Newer cores, published without front ends: they run behind those of `frontEnds`. */
  readonly cores: CoreTable;
}

export interface ServerRelease {
  /** As the server says it on /v2. */
  readonly version: string;
  /** NVIDIA's container with this server, as `24.10`. */
  readonly container: string;
  readonly packageVersion: string;
  readonly file: string;
  readonly sha256: string;
  /** Set: the core is another release's than the front ends and the Python backend, which are the wheel's. */
  readonly core?: Core;
}

export interface CoreTable extends CoreParts {
  readonly releases: readonly CoreRelease[];
}

/** What newer cores share: the C library and the others that they are linked with. */
export interface CoreParts {
  readonly layout: number;
  /** Release of the front ends and of the Python backend, as `2.51.0`. */
  readonly frontEnds: string;
  readonly mavenPlugin: string;
  readonly debian: { readonly suite: string; readonly packages: readonly string[] };
  readonly cudaRuntime: WheelPin;
}

export interface CoreRelease {
  readonly version: string;
  readonly container: string;
  /** Maven coordinates of libtritonserver.so. */
  readonly artifact: string;
  readonly file: string;
  readonly sha256: string;
}

export interface Core {
  readonly parts: CoreParts;
  readonly release: CoreRelease;
}

export function serverTable(): ServerTable {
  return JSON.parse(readFileSync(join(TRITON_DATA, 'tritonserver.json'), 'utf8')) as ServerTable;
}

/** Every release that can be laid out, oldest first: those of the wheels, then the newer cores behind the newest front ends. */
export function serverReleases({ releases, cores }: ServerTable = serverTable()): readonly ServerRelease[] {
  const { releases: newer, ...parts } = cores;
  const wheel = releases.find(({ version }) => version === parts.frontEnds);
  if (wheel === undefined) throw new LockstepError('internal', `tritonserver.json has no release ${parts.frontEnds}`);
  return [
    ...releases,
    ...newer.map((release) => ({ ...wheel, version: release.version, container: release.container, core: { parts, release } })),
  ];
}

/** The release of a version, as `2.47` or `2.47.0`. Errors: `triton-unknown`. */
export function serverRelease(version: string, table: ServerTable = serverTable()): ServerRelease {
  const releases = serverReleases(table);
  const found = releases.find((release) => release.version === version || release.version === `${version}.0`);
  if (found !== undefined) return found;
  throw new LockstepError('triton-unknown', `there is no tritonserver ${version} to lay out`, {
    hint: `Use one of ${releases.map((release) => release.version.replace(/\.0$/, '')).join(' ')}, or the path of a tritonserver program.`,
  });
}
