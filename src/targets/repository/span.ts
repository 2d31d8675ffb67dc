import { REPOSITORY_RELEASES, type RepositoryRelease } from '#core/profile/index.ts';

/** Releases from one to another, both included; absent = open. */
export interface Span {
  readonly since?: string;
  readonly until?: string;
}

export function isWithin(release: RepositoryRelease, { since, until }: Span): boolean {
  const at = orderOf(release.id);
  return (since === undefined || at >= orderOf(since)) && (until === undefined || at <= orderOf(until));
}

function orderOf(id: string): number {
  return REPOSITORY_RELEASES.findIndex((release) => release.id === id);
}
