import { LockstepError } from './index.ts';

/** `listen-failed`: the error of every server of this project that cannot have its port. */
export function listenFailed(at: { readonly host: string; readonly port: number }, cause: Error): LockstepError {
  return new LockstepError('listen-failed', `cannot listen on ${at.host}:${at.port}: ${cause.message}`, {
    cause,
    hint: 'Choose another port, or 0 for any free one.',
  });
}
