/** A server that already runs: it is reached, identified and left as it is. */
export { readAccess } from './access.ts';
export { askHealth, connectExternalTarget } from './external.ts';
export type { ExternalOptions } from './external.ts';
