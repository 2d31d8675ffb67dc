import { LockstepError } from '#core/errors/index.ts';
import { REPOSITORY_RELEASES, type RepositoryRelease } from '#core/profile/index.ts';

/**
 * The stock repository that belongs to a TensorRT-LLM release: `0.19`, `0.19.0`, `v0.18.2`, `1.1.0rc3`. Everything from 1.0 on is `1.x`.
 *
 * Errors: `release-unknown`. `origin` says where the name came from, for the message.
 */
export function releaseFor(version: string, origin: string): RepositoryRelease {
  const match = /^v?(\d+)\.(\d+|x)/.exec(version.trim());
  const id = match === null ? version : match[1] === '0' ? `0.${match[2]}` : '1.x';
  const found =
    match !== null && match[1] !== undefined && Number(match[1]) <= 1 ? REPOSITORY_RELEASES.find((one) => one.id === id) : undefined;
  if (found !== undefined) return found;
  throw new LockstepError('release-unknown', `${origin} names TensorRT-LLM ${version}, whose stock repository is not known here`, {
    hint: `Add --release with the nearest that is known: ${REPOSITORY_RELEASES.map((one) => one.id).join(', ')}.`,
  });
}
