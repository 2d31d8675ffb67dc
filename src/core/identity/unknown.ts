/** What stands where nothing tells a part of an identity: never a guess. */
export const UNKNOWN = 'unknown';
