import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';

/** Where the recipe of real servers lies. */
export const TRITON_DATA = join(PACKAGE_ROOT, 'docker/triton');

const version = z.string().regex(/^\d+\.\d+\.\d+$/, 'expected a version such as 2.51.0');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits');

const WHEEL = z.strictObject({ package: z.string(), packageVersion: z.string(), platform: z.string(), file: z.string(), sha256 });

const RELEASE = z.strictObject({
  /** As the server says it on /v2. */
  version,
  /** NVIDIA's container with this server, as `24.10`. */
  container: z.string(),
  packageVersion: z.string(),
  file: z.string(),
  sha256,
});

const CORE_RELEASE = z.strictObject({
  version,
  container: z.string(),
  /** Maven coordinates of libtritonserver.so. */
  artifact: z.string(),
  file: z.string(),
  sha256,
});

/** What newer cores share: the C library and the others that they are linked with. */
const CORE_PARTS = z.strictObject({
  layout: z.int(),
  /** Release of the front ends and of the Python backend, as `2.51.0`. */
  frontEnds: version,
  mavenPlugin: z.string(),
  debian: z.strictObject({ suite: z.string(), packages: z.array(z.string()) }),
  cudaRuntime: WHEEL,
});

/** docker/triton/tritonserver.json: which servers, from which package, under which checksums. */
const TABLE = z
  .strictObject({
    package: z.string(),
    platform: z.string(),
    /** Series of the CPython whose stub is used, as `3.11`. */
    python: z.string(),
    libpython: z.string(),
    layout: z.int(),
    releases: z.array(RELEASE),
    /** Newer cores, published without front ends: they run behind those of `frontEnds`. */
    cores: CORE_PARTS.extend({ releases: z.array(CORE_RELEASE) }),
  })
  .refine(({ releases, cores }) => releases.some((release) => release.version === cores.frontEnds), {
    path: ['cores', 'frontEnds'],
    message: 'expected the version of one of the releases',
  });

export type WheelPin = z.output<typeof WHEEL>;
export type ServerTable = z.output<typeof TABLE>;
export type CoreParts = z.output<typeof CORE_PARTS>;
type CoreRelease = z.output<typeof CORE_RELEASE>;

export interface Core {
  readonly parts: CoreParts;
  readonly release: CoreRelease;
}

export interface ServerRelease extends z.output<typeof RELEASE> {
  /** Set: the core is another release's than the front ends and the Python backend, which are the wheel's. */
  readonly core?: Core;
}

/** Errors: `triton-table-malformed`, with line or field. */
export function serverTable(path = join(TRITON_DATA, 'tritonserver.json')): ServerTable {
  const json = parseJson(readFileSync(path));
  if (json.text === undefined) throw malformed(`${path}:${json.line}:${json.column}: no JSON: ${json.problem}`);
  const { data, error } = TABLE.safeParse(json.value);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  throw malformed(`${path}${field === '' ? '' : `, ${field}`}: ${issue?.message.replace('Invalid input: ', '')}`);
}

function malformed(text: string): LockstepError {
  return new LockstepError('triton-table-malformed', text, { hint: 'Restore the file from version control, or correct that place.' });
}

/** Every release that can be laid out, oldest first: those of the wheels, then the newer cores behind the newest front ends. */
export function serverReleases({ releases, cores }: ServerTable = serverTable()): readonly ServerRelease[] {
  const { releases: newer, ...parts } = cores;
  const wheel = releases.find((release) => release.version === parts.frontEnds)!;
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
