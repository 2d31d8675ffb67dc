/**
 * A prompt that no server has seen before needs words that are new in every run. They stand in the request's id, so
 * that `--only cold-<nonce>-<i>` makes the same prompt again; a server that was started since is cold to it.
 */
export interface Cold {
  readonly nonce: string;
  readonly i: number;
}

export function coldId({ nonce, i }: Cold): string {
  return `cold-${nonce}-${i}`;
}

/** Undefined for the id of any other request. */
export function coldOf(id: string): Cold | undefined {
  const match = /^cold-([0-9a-z]+)-(\d+)$/.exec(id);
  return match === null ? undefined : { nonce: match[1]!, i: Number(match[2]) };
}
