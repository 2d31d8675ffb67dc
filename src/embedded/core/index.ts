export * from './types.ts';
export { createTritonCore, type CoreOptions } from './triton-core.ts';
export {
  type Exec,
  ExecuteError,
  type Model,
  type ModelFactory,
  type ModelRequest,
  type ModelSetup,
  partOf,
  type ResponseSender,
  type StreamPosition,
} from './model.ts';
export { streamPosition } from './run-model.ts';
