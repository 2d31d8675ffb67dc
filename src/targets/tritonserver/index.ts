/** A tritonserver that this project starts, whether as a process, in a container or in a job: its folders, its log, its models, its words. */
export { askHttp } from './ask-http.ts';
export { envNames, parseEnv } from './environment.ts';
export { findLoadFailure, loadFailed } from './load-failure.ts';
export { modelFolders } from './model-folders.ts';
export { type Mount, type Mounts, REPOSITORY_TARGET, planMounts } from './mounts.ts';
export { findPortTaken } from './port-taken.ts';
export { waitUntilAnswers } from './ready.ts';
export { type ModelState, repositoryIndex } from './repository-index.ts';
export { serverVersion } from './server-version.ts';
export { tritonName } from './triton-name.ts';
export { modelOfInstance, modelOfStub, modelsWithoutStub, stubsBelow } from './stubs.ts';
