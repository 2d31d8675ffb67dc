/** What a client can see of one target: probes, and the canonical record of what came back. */
export { type ObserveOptions, observeContract } from './observe.ts';
export type { Area, ContractRecord, Exchange, Observation, Probe } from './types.ts';
