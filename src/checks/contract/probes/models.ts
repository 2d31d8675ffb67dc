import type { Probe } from '../types.ts';
import { get, grpc } from './build.ts';

/** What a server says of one of its models: metadata, the configuration as it completed it, statistics. */
export function modelProbes(model: string): readonly Probe[] {
  const path = `/v2/models/${model}`;
  const needs = [model];
  return [
    { id: `model/${model}/metadata`, area: 'metadata', ask: get(path), read: 'values', needs },
    { id: `model/${model}/metadata-grpc`, area: 'metadata', ask: grpc('ModelMetadata', { name: model }), read: 'values', needs },
    { id: `model/${model}/config`, area: 'config', ask: get(`${path}/config`), read: 'values', needs },
    { id: `model/${model}/config-grpc`, area: 'config', ask: grpc('ModelConfig', { name: model }), read: 'values', needs },
    { id: `model/${model}/statistics`, area: 'statistics', ask: get(`${path}/stats`), read: 'fields', needs },
    { id: `model/${model}/statistics-grpc`, area: 'statistics', ask: grpc('ModelStatistics', { name: model }), read: 'fields', needs },
    { id: `model/${model}/ready`, area: 'http', ask: get(`${path}/ready`), read: 'text', needs },
    { id: `model/${model}/unknown-version`, area: 'http', ask: get(`${path}/versions/7`), read: 'text', needs },
    { id: `model/${model}/version-that-is-no-number`, area: 'http', ask: get(`${path}/versions/abc`), read: 'text', needs },
  ];
}
