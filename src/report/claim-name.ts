/** The name of a claim's test: `agreement/ensemble-equals-raw: the ensemble answers what raw answers`. */
export function claimName(suite: string, id: string, statement: string): string {
  return `${claimKey(suite, id)}: ${statement}`;
}

/** What a reader types to run just this claim; an id that already begins with its suite is not doubled. */
export function claimKey(suite: string, id: string): string {
  return id === suite || id.startsWith(`${suite}/`) ? id : `${suite}/${id}`;
}

/**
 * A pattern for test names: claims whose key contains one of the filters, whatever the case. A claim of a described
 * block is named `block > key: statement`; only the key counts.
 */
export function claimPattern(filters: readonly string[]): RegExp {
  return new RegExp(`^(?:.* > )?[^: ]*(?:${filters.map((filter) => filter.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|')})`, 'i');
}
