/** Recorded exchanges played again: to their client, to the laws, and to a server. docs/fixtures.md explains it. */
export { type JudgeContext, type JudgedFixture, type LawFinding, judgeFixture } from './judge-fixture.ts';
export type { ObserveContext, Observed } from './observed.ts';
export type { Played } from './played.ts';
export { type ReplayOptions, type ReplayServer, startReplayServer } from './serve.ts';
export { type SendOptions, sendFixture } from './send.ts';
