export * from './types.ts';
export { createTritonCore, type CoreOptions } from './triton-core.ts';
export { ExecuteError, type Model, type ModelFactory, type ModelRequest, type ModelSetup, type ResponseSender } from './model.ts';
export { streamPosition } from './run-model.ts';
