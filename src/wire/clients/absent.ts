import { LockstepError } from '#core/errors/index.ts';

/**
 * A client of a port that the target has not: every call is refused, so that whoever needs the port can say so.
 *
 * Errors of every call: `port-not-served`.
 */
export function absent<T extends object>(port: string): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      if (name === 'then') return undefined;
      if (name === Symbol.asyncDispose) return async () => {};
      return () => {
        throw portNotServed(port);
      };
    },
  });
}

export function portNotServed(port: string): LockstepError {
  return new LockstepError('port-not-served', `needs ${port}, and only the OpenAI front end of this target is known`, {
    hint: 'Name its ports, with --target external, if it has any.',
  });
}
