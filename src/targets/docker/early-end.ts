import { shownArguments } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { findLoadFailure, findPortTaken, loadFailed } from '../tritonserver/index.ts';
import { engineGone } from './engine-error.ts';
import type { ContainerWatch } from './watch.ts';

/**
 * Why a container ended before its server was ready. Codes: `docker-engine-gone`, `container-out-of-memory`, `model-load-failed`,
 * `port-taken`, `image-without-front-end`, `server-argument-refused`, `container-exited`.
 */
export function earlyEnd(watch: ContainerWatch, of: { readonly socket: string; readonly command: readonly string[] }): LockstepError {
  const { log, engineGone: gone, outOfMemory, ended } = watch;
  if (gone) return engineGone(of.socket);
  const failure = findLoadFailure(log.lines());
  if (outOfMemory) {
    return new LockstepError('container-out-of-memory', `the container ${ended} before it was ready`, {
      context: { log: log.tail() },
      hint: 'Give the host or the container more memory; `docker stats` shows what it takes.',
    });
  }
  if (failure !== undefined) return loadFailed(failure.model, failure.reason, log.tail());
  const port = findPortTaken(log.lines());
  if (port !== undefined) {
    return new LockstepError('port-taken', `tritonserver could not have its port: ${port}`, {
      hint: 'Stop what listens there (ss -ltnp shows it), or leave --network host out.',
    });
  }
  const frontEnd = log.lines().find((line) => /can't open file '.*openai_frontend\/main\.py'/.test(line));
  if (frontEnd !== undefined) {
    return new LockstepError('image-without-front-end', 'the image has no OpenAI front end of Triton', {
      context: { log: frontEnd.trim() },
      hint: "Name one of NVIDIA's images that has it in /opt/tritonserver/python/openai, or leave --frontend out.",
    });
  }
  const refused = log
    .lines()
    .find((line) => /unrecognized option|unrecognized arguments|requires an argument|option .* is ambiguous/.test(line));
  if (refused !== undefined) {
    return new LockstepError('server-argument-refused', `the server does not take its arguments: ${refused.trim()}`, {
      context: { command: shownArguments(of.command).join(' ') },
      hint: 'Correct --server-arg; another release may know other arguments.',
    });
  }
  return new LockstepError('container-exited', `the container ${ended} before it was ready`, {
    context: { log: log.tail(), command: shownArguments(of.command).join(' ') },
    hint: log.lines().some((line) => line.includes('lock_exception'))
      ? 'It died while its Python models loaded, as it was seen to do on a busy host (docs/observed.md#lifecycle-and-crashes). Start it again when the host is free.'
      : 'Read the last log lines above.',
  });
}
