/** tritonserver in a container of a Docker engine on this host. */
export { type Engine, connectEngine, engineAt } from './engine.ts';
export { kindOfReference } from './image.ts';
export { type CpuImageOptions, cpuImage } from './cpu-image.ts';
export { type DockerServer, type DockerServerOptions, startDockerServer } from './server.ts';
export type { DockerSettings } from './settings.ts';
export { removeRun } from './remove.ts';
