export { type OpenAiServerOptions, startOpenAiServer } from './server.ts';
