/** From a failing case to the smallest one that still breaks the same law in the same way. docs/shrink.md explains it. */
export type * from './types.ts';
export { failingCaseOf } from './failing-case.ts';
export { type Shrunk, shrink } from './shrink.ts';
export { type Bench, Stage } from './stage.ts';
export { triedAgain } from './tried-again.ts';
