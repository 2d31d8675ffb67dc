/** The Docker engine, what it can give a container, and the image; failures only where target docker is asked for. */
import { resolve } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { connectEngine, type Engine, engineFits, kindOfReference } from '#targets/docker/index.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

export const examineDocker: Examination = async ({ settings, env, cwd, signal }) => {
  const asked = settings.target === 'docker';
  let engine: Engine;
  try {
    engine = await connectEngine(env, signal);
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    const text = error.message.replace(/^\[[^\]]*\] /, '');
    const next = error.hint ?? 'Start the engine.';
    return [asked ? fail('docker', text, next) : warn('docker', `${text}; only target docker needs it`, next)];
  }
  const info = (await engine.docker.info()) as EngineInfo;
  const found = ok(
    'docker',
    `Docker Engine ${info.ServerVersion} at ${engine.socket}, ${info.Driver}, cgroup v${info.CgroupVersion ?? '1'}`,
  );
  return [
    found,
    examineRuntime(info, asked && settings.image !== undefined, settings.gpus),
    ...(asked ? await examineImage(engine, { ...settings, cwd, signal }) : []),
  ];
};

interface EngineInfo {
  readonly ServerVersion: string;
  readonly Driver: string;
  readonly CgroupVersion?: string;
  readonly Runtimes?: Readonly<Record<string, unknown>>;
}

function examineRuntime({ Runtimes = {} }: EngineInfo, needed: boolean, gpus: string | undefined): Finding {
  if ('nvidia' in Runtimes) return ok('nvidia runtime', 'the engine can give containers GPUs');
  const text = 'the engine has no NVIDIA runtime, so containers get no GPU';
  const next = 'Install the NVIDIA Container Toolkit: nvidia-ctk runtime configure --runtime=docker, then restart the engine.';
  return needed && gpus !== 'none' ? fail('nvidia runtime', text, next) : warn('nvidia runtime', text, next);
}

interface ImageOptions {
  readonly image?: string | undefined;
  readonly allowFloatingTag: boolean;
  readonly engineDir?: string | undefined;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

async function examineImage(engine: Engine, options: ImageOptions): Promise<readonly Finding[]> {
  const { image, allowFloatingTag, engineDir } = options;
  if (image === undefined) return [ok('image', "none named: the project's own CPU image is built when it is missing")];
  if (kindOfReference(image) === 'tag' && !allowFloatingTag) {
    const next = 'Name a digest, NAME@sha256:…, or add --allow-floating-tag.';
    return [fail('image', `${image} is a tag, which can be moved to another image at any time`, next)];
  }
  let found: Finding;
  try {
    const { Id, Config } = await engine.docker.getImage(image).inspect();
    const version = Config.Labels?.['com.nvidia.tritonserver.version'] ?? 'unknown';
    found = ok('image', `${Id.slice('sha256:'.length, 19)} is there, Triton ${version}`);
  } catch {
    return [warn('image', `${image} is not on the engine yet`, `docker pull ${image} fetches it before the run; the run would do it too.`)];
  }
  return engineDir === undefined ? [found] : [found, await examineFit(engine, { ...options, image, engineDir })];
}

/** An engine loads in the very release that built it, and only the image itself says which one it has. */
async function examineFit(
  engine: Engine,
  { image, engineDir, cwd, signal }: ImageOptions & { readonly image: string; readonly engineDir: string },
): Promise<Finding> {
  try {
    const releases = await engineFits(engine, { image, engineDir: resolve(cwd, engineDir), signal });
    if (releases.image !== releases.engine) {
      const text = `TensorRT-LLM is ${releases.engine} in the engine and ${releases.image} in the image`;
      return warn('engine in image', text, 'Nothing can be compared; the start of the server will tell.');
    }
    return ok('engine in image', `both are of TensorRT-LLM ${releases.image}`);
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return fail('engine in image', error.message, error.hint ?? 'Build the engine with the image that is to load it.');
  }
}
