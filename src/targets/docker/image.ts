import type { ImageInspectInfo } from 'dockerode';
import { LockstepError } from '#core/errors/index.ts';
import type { Engine } from './engine.ts';
import { engineError, statusOf } from './engine-error.ts';
import { pullImage } from './pull.ts';

/** An image that is on the engine, pinned by what it is made of. */
export interface Image {
  /** As the user named it. */
  readonly reference: string;
  /** `sha256:` and 64 digits: the digest of its configuration, which covers every layer. */
  readonly id: string;
  /** `name@sha256:…` of the registries that it came from; empty for one that was built here. */
  readonly digests: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

export interface ImageOptions {
  readonly allowFloatingTag: boolean;
  /** Told what a pull is at. */
  readonly notice: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** `id` of a local image, `digest` of a registry's, or a tag, which can be moved to another image at any time. */
export function kindOfReference(reference: string): 'id' | 'digest' | 'tag' {
  if (/^(sha256:)?[0-9a-f]{64}$/.test(reference)) return 'id';
  return /@sha256:[0-9a-f]{64}$/.test(reference) ? 'digest' : 'tag';
}

/**
 * Finds the image that a reference names, and pulls one that is missing.
 *
 * Errors: `image-floating`, `image-missing`, `image-pull-failed`, `image-other-platform`, those of `engineError`.
 */
export async function findImage(engine: Engine, reference: string, options: ImageOptions): Promise<Image> {
  const kind = kindOfReference(reference);
  const local = await inspect(engine, reference);
  if (kind === 'tag' && !options.allowFloatingTag) throw floating(reference, local);
  if (local !== undefined) return imageOf(reference, local);
  if (kind === 'id') {
    throw new LockstepError('image-missing', `the Docker engine has no image ${reference}`, {
      hint: 'docker images --no-trunc lists those that there are; an id cannot be pulled, name@sha256:… can.',
    });
  }
  await pullImage(engine, reference, options);
  const pulled = await inspect(engine, reference);
  if (pulled === undefined) {
    throw new LockstepError('image-missing', `the Docker engine pulled ${reference} and has it not`, {
      hint: "Look into the engine's own log.",
    });
  }
  return imageOf(reference, pulled);
}

async function inspect(engine: Engine, reference: string): Promise<ImageInspectInfo | undefined> {
  try {
    return await engine.docker.getImage(reference).inspect();
  } catch (thrown) {
    if (statusOf(thrown) === 404) return undefined;
    throw engineError(thrown, engine.socket);
  }
}

function imageOf(reference: string, info: ImageInspectInfo): Image {
  if (info.Os !== 'linux') {
    throw new LockstepError('image-other-platform', `${reference} is an image for ${info.Os}, and tritonserver runs on Linux`, {
      hint: 'Name an image of tritonserver.',
    });
  }
  const env = (info.Config.Env ?? []).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return {
    reference,
    id: info.Id,
    digests: info.RepoDigests ?? [],
    labels: info.Config.Labels ?? {},
    env: Object.fromEntries(env) as Record<string, string>,
  };
}

function floating(reference: string, local: ImageInspectInfo | undefined): LockstepError {
  const pinned = local === undefined ? undefined : (local.RepoDigests?.[0] ?? local.Id);
  return new LockstepError('image-floating', `the tag ${reference} can name another image tomorrow, and answers with it`, {
    hint:
      pinned === undefined
        ? `Pull it and name what came: docker pull ${reference}, then docker images --digests; or add --allow-floating-tag.`
        : `Name the image that it is now, --image ${pinned}, or add --allow-floating-tag.`,
  });
}
