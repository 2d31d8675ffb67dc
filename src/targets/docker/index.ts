/** tritonserver in a container of a Docker engine on this host. */
export { type Engine, connectEngine } from './engine.ts';
export { engineFits } from './engine-fit.ts';
export { kindOfReference } from './image.ts';
export { type CpuImageOptions, cpuImage } from './cpu-image.ts';
export { type OwnContainer, listServers, stopServer } from './servers.ts';
export type { DockerServer, DockerServerOptions } from './server.ts';
export { startDockerServer } from './start.ts';
export { type DockerSettings, dockerSettings } from './settings.ts';
