/** Official clients of Triton and of OpenAI, laid out under `.cache/clients` and run as processes of their own. */
export { type ClientEnvironment, type EnvironmentId, clientEnvironment, pathWith } from './environment.ts';
export { type ClientRun, runClient } from './run-client.ts';
