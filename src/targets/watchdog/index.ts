/** Cleans up after a runner that was killed: see watchdog.ts. */
export { registerForCleanup } from './watchdog.ts';
export type { Cleanup, Registration } from './watchdog.ts';
