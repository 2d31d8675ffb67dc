import { createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { onPath, runCommand } from '../host/index.ts';
import { layOutTriton, serverRelease, serverTable } from '../process/index.ts';
import type { Engine } from './engine.ts';
import { engineError, statusOf } from './engine-error.ts';

const RECIPE = join(PACKAGE_ROOT, 'docker/image');
const CACHE = join(PACKAGE_ROOT, '.cache/docker');

export interface CpuImageOptions {
  /** As `2.47`; default the newest of docker/triton/tritonserver.json. */
  readonly triton?: string | undefined;
  /** Adds the metadata of this TensorRT-LLM release, and nothing else of it. */
  readonly tensorrtLlm?: string;
  readonly notice: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The id of a CPU image of tritonserver, built and loaded where the engine has it not (docker/image): the same server and Python packages
 * as target process, on Debian 12, and under a newer core Debian 13's C library. The same parts give the same id; Debian's part is kept in .cache/docker until the recipe changes.
 *
 * Errors: those of the layout, `mmdebstrap-missing`, `command-failed`, those of `engineError`.
 */
export async function cpuImage(engine: Engine, options: CpuImageOptions): Promise<string> {
  const { notice, signal } = options;
  const release = serverRelease(options.triton ?? serverTable().releases.at(-1)!.version);
  const layout = await layOutTriton({ version: release.version, signal });
  const base = await baseLayer(notice, signal);
  const { mtimeMs, size } = statSync(base);
  const recipe = readFileSync(join(RECIPE, 'image.py'), 'utf8');
  const { core } = layout;
  const more = [
    ...(options.tensorrtLlm === undefined ? [] : ['--tensorrt-llm', options.tensorrtLlm]),
    ...(core === undefined
      ? ['--container', release.container]
      : ['--libraries', core.libraries, '--front-ends', core.frontEnds.replace(/\.0$/, '')]),
  ];
  const key = shortHash(
    [base, mtimeMs, size, release.version, release.sha256, core?.origin, layout.python.packages, recipe, ...more].join('\n'),
  );
  const note = join(CACHE, `image-${key}`);
  const known = existsSync(note) ? readFileSync(note, 'utf8').trim() : undefined;
  if (known !== undefined && (await isLoaded(engine, known))) return known;
  notice(`building the CPU image of tritonserver ${release.version}`);
  const archive = join(CACHE, `.image-${process.pid}-${randomBytes(4).toString('hex')}.tar`);
  try {
    const packages = join(layout.python.bin, `../lib/python${serverTable().python}/site-packages`);
    const parts = [join(layout.folder, 'site'), packages, base, archive, release.version, ...more];
    const id = await runCommand(layout.python.program, ['-I', join(RECIPE, 'image.py'), ...parts], {
      ms: 300_000,
      what: 'the image',
      signal,
    });
    await load(engine, archive);
    writeFileAtomic(note, id);
    return id.trim();
  } finally {
    rmSync(archive, { force: true });
  }
}

async function isLoaded(engine: Engine, id: string): Promise<boolean> {
  try {
    await engine.docker.getImage(id).inspect();
    return true;
  } catch (thrown) {
    if (statusOf(thrown) === 404) return false;
    throw engineError(thrown, engine.socket);
  }
}

async function load(engine: Engine, archive: string): Promise<void> {
  try {
    const answer = (await engine.docker.loadImage(createReadStream(archive))) as AsyncIterable<Buffer>;
    let text = '';
    for await (const chunk of answer) text += chunk.toString('utf8');
    const error = /"error":"([^"]*)"/.exec(text)?.[1];
    if (error !== undefined) throw new LockstepError('docker-refused', `the Docker engine does not load the image: ${error}`);
  } catch (thrown) {
    throw engineError(thrown, engine.socket);
  }
}

/** Debian's layer: unpacked by mmdebstrap, which needs root; half a minute the first time. */
async function baseLayer(notice: (line: string) => void, signal: AbortSignal | undefined): Promise<string> {
  const scripts = ['base.sh', 'base-hook.sh'].map((name) => readFileSync(join(RECIPE, name), 'utf8'));
  const path = join(CACHE, `base-${shortHash(scripts.join('\n'))}.tar`);
  if (existsSync(path)) return path;
  if (!onPath('mmdebstrap') || process.getuid?.() !== 0) {
    throw new LockstepError('mmdebstrap-missing', 'the CPU image is built by mmdebstrap as root, and that cannot be done here', {
      hint: 'On Debian: sudo apt-get install mmdebstrap, and run this as root; or name an image with --image.',
    });
  }
  notice('unpacking the Debian part of the CPU image');
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) if (name.startsWith('base-')) rmSync(join(CACHE, name));
  // mmdebstrap takes the format from the name.
  const draft = join(CACHE, `.base-${process.pid}-${randomBytes(4).toString('hex')}.tar`);
  try {
    await runCommand(join(RECIPE, 'base.sh'), [draft], { ms: 600_000, what: "Debian's part of the image", signal });
    renameSync(draft, path);
    return path;
  } finally {
    rmSync(draft, { force: true });
  }
}
