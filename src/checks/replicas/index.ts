/** Several servers that should be one: they are compared with each other before anything else is asked. */
export { type Alike, assertReplicasAlike } from './assert-alike.ts';
