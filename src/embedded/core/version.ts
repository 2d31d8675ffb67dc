import { CoreError } from './types.ts';

/**
 * The version a client asked for: -1 for '' (the server chooses).
 *
 * Errors: INVALID_ARG, with the texts of the gRPC front end of 2.51.
 */
export function parseVersion(text: string): number {
  if (text === '') return -1;
  const leading = /^\s*[+-]?\d+/.exec(text)?.[0];
  if (leading === undefined) {
    throw new CoreError(
      'INVALID_ARG',
      `failed to get model version from specified version string '${text}' (details: stol), version should be an integral value > 0`,
    );
  }
  const version = Number.parseInt(leading, 10);
  if (version <= 0) {
    throw new CoreError('INVALID_ARG', `invalid model version specified '${text}' , version should be an integral value > 0`);
  }
  return version;
}
