/** The embedded server in a process of its own. */
export { startEmbeddedTarget } from './embedded.ts';
export type { EmbeddedTargetOptions } from './embedded.ts';
export type { ReadyMessage } from './messages.ts';
