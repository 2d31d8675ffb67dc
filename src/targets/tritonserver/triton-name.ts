/** What a Triton of two releases is called: what it says of itself is the release of its core alone. */
export function tritonName(version: string, frontEnds: string | undefined): string {
  return frontEnds === undefined ? version : `${version} core with the front ends of ${frontEnds.replace(/\.0$/, '')}`;
}
