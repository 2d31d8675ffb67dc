export { startTrtllmServe, type TrtllmServeOptions } from './server.ts';
