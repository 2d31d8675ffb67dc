export { EDGE_PROBES } from './edges.ts';
export { modelProbes } from './models.ts';
export { SERVER_PROBES } from './server.ts';
export { STOCK_PROBES } from './stock.ts';
