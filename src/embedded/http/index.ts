export { type HttpServerOptions, startHttpServer } from './server.ts';
export { type MetricsServerOptions, startMetricsServer } from './metrics-server.ts';
export { listen, type Listening, readBody } from './listen.ts';
