export { requestFields } from './request-schema.ts';
export { startTrtllmServe, type TrtllmServeOptions } from './server.ts';
