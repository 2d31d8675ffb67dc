export { REQUEST_FIELDS } from './request-schema.ts';
export { type OpenAiServerOptions, startOpenAiServer } from './server.ts';
