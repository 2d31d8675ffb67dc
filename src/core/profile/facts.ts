import type { Fact } from './profile.ts';

export const observed = <T>(value: T, source: string): Fact<T> => ({ value, evidence: 'observed', source });
export const read = <T>(value: T, source: string): Fact<T> => ({ value, evidence: 'source-read', source });

/** What the contract says where a release was seen to do otherwise. */
export const wished = <T>(fact: Fact<unknown>, value: T): Fact<T> => ({
  value,
  evidence: fact.evidence,
  source: `right form of: ${fact.source}`,
});
