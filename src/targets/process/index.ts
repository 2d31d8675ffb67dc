/** A real tritonserver as a process of this machine: laid out from PyPI, started, watched, stopped without remains. */
export { lockGpuClocks } from './gpu-clocks.ts';
export { installedTriton } from './installed.ts';
export { layOutTriton, type TritonLayout } from './layout.ts';
export { startTritonServer, TritonProcess, type TritonServerOptions } from './server.ts';
export { findPip, findPython } from './python.ts';
export { identify } from './identity.ts';
export { serverRelease, serverTable } from './releases.ts';
