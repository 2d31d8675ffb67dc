import type { Area, Ask, Probe } from '../types.ts';
import { get, grpc, post } from './build.ts';

const row = (area: Area, id: string, ask: Ask, more: Partial<Probe> = {}): Probe => ({ id, area, ask, read: 'text', ...more });

/** No field of any message begins so. */
const NO_MESSAGE = Uint8Array.of(255, 255, 255, 255);
const SERVICE = '/inference.GRPCInferenceService';

/** What any server answers, whatever it serves. */
export const SERVER_PROBES: readonly Probe[] = [
  row('metadata', 'http/server', get('/v2'), { read: 'values' }),
  row('metadata', 'grpc/server', grpc('ServerMetadata', {}), { read: 'values' }),
  row('http', 'http/live', get('/v2/health/live')),
  row('http', 'http/ready', get('/v2/health/ready')),
  row('grpc', 'grpc/live', grpc('ServerLive', {})),
  row('grpc', 'grpc/ready', grpc('ServerReady', {})),
  row('http', 'http/unknown-path', get('/v2/nope')),
  row('http', 'http/unknown-root', get('/nope')),
  row('http', 'http/root', get('/')),
  row('http', 'http/v2-slash', get('/v2/')),
  row('http', 'http/wrong-method', { via: 'http', method: 'PUT', path: '/v2/health/live' }),
  row('http', 'http/wrong-method-delete', { via: 'http', method: 'DELETE', path: '/v2' }),
  row('http', 'http/unknown-model/ready', get('/v2/models/nope/ready')),
  row('http', 'http/unknown-model/metadata', get('/v2/models/nope')),
  row('http', 'http/unknown-model/config', get('/v2/models/nope/config')),
  row('http', 'http/unknown-model/stats', get('/v2/models/nope/stats')),
  row('http', 'http/unknown-model/infer', post('/v2/models/nope/infer', { inputs: [] })),
  row('http', 'http/unknown-model/infer-broken-json', post('/v2/models/nope/infer', '{"a"')),
  row('generate', 'http/unknown-model/generate', post('/v2/models/nope/generate', { text_input: 'a' })),
  row('generate', 'http/unknown-model/generate_stream', post('/v2/models/nope/generate_stream', { text_input: 'a' })),
  row('http', 'http/openai-path', post('/v1/chat/completions', {})),
  row('grpc', 'grpc/unknown-model/ready', grpc('ModelReady', { name: 'nope' })),
  row('grpc', 'grpc/unknown-model/metadata', grpc('ModelMetadata', { name: 'nope' })),
  row('grpc', 'grpc/unknown-model/config', grpc('ModelConfig', { name: 'nope' })),
  row('grpc', 'grpc/unknown-model/stats', grpc('ModelStatistics', { name: 'nope' })),
  row('grpc', 'grpc/unknown-model/infer', grpc('ModelInfer', { model_name: 'nope' })),
  row('grpc', 'grpc/unknown-method', { via: 'grpc-bytes', path: `${SERVICE}/Nope`, bytes: new Uint8Array() }),
  row('grpc', 'grpc/unknown-service', { via: 'grpc-bytes', path: '/nope.Nope/Nope', bytes: new Uint8Array() }),
  row('grpc', 'grpc/no-message', { via: 'grpc-bytes', path: `${SERVICE}/ServerMetadata`, bytes: NO_MESSAGE }),
  row('grpc', 'grpc/bad-version', grpc('ModelReady', { name: 'nope', version: 'abc' })),
  row('grpc', 'grpc/negative-version', grpc('ModelReady', { name: 'nope', version: '-3' })),
  row('stream', 'stream/unknown-model', {
    via: 'stream',
    messages: [{ model_name: 'nope', id: 'q', inputs: [], outputs: [], raw_input_contents: [] }],
  }),
  row('stream', 'stream/nothing-sent', { via: 'stream', messages: [] }),
  row('settings', 'http/trace', get('/v2/trace/setting')),
  row('settings', 'grpc/trace', grpc('TraceSetting', {})),
  row('settings', 'http/logging', get('/v2/logging')),
  row('settings', 'grpc/logging', grpc('LogSettings', {})),
  row('settings', 'http/trace/timestamps-without-a-file', post('/v2/trace/setting', { trace_level: ['TIMESTAMPS'] }), { changes: true }),
  row('settings', 'http/trace/unknown-level', post('/v2/trace/setting', { trace_level: ['NOPE'] }), { changes: true }),
  row('settings', 'http/trace/unknown-key', post('/v2/trace/setting', { nope: '1' }), { changes: true }),
  row('settings', 'http/logging/unknown-key', post('/v2/logging', { nope: true }), { changes: true }),
  row('settings', 'http/logging/log-file-elsewhere', post('/v2/logging', { log_file: '/dev/null' }), { changes: true }),
  row('settings', 'grpc/logging/log-file', grpc('LogSettings', { settings: { log_file: { string_param: '/dev/null' } } }), {
    changes: true,
  }),
  // The last one is where every server began.
  row('settings', 'http/logging/log-file', post('/v2/logging', { log_file: '' }), { changes: true }),
  row('models', 'http/index', post('/v2/repository/index'), { read: 'values' }),
  row('models', 'http/index/ready-only', post('/v2/repository/index', { ready: true }), { read: 'values' }),
  row('models', 'http/load-unknown', post('/v2/repository/models/nope/load'), { changes: true }),
  row('models', 'http/unload-unknown', post('/v2/repository/models/nope/unload'), { changes: true }),
  row('models', 'grpc/load-unknown', grpc('RepositoryModelLoad', { model_name: 'nope' }), { changes: true }),
  row(
    'models',
    'grpc/load-unknown-parameter',
    grpc('RepositoryModelLoad', { model_name: 'nope', parameters: { foo: { string_param: 'a' } } }),
    {
      changes: true,
    },
  ),
  row('models', 'grpc/unload-unknown', grpc('RepositoryModelUnload', { model_name: 'nope' }), { changes: true }),
  row('http', 'http/shared-memory/status', get('/v2/systemsharedmemory/status')),
  row('http', 'http/shared-memory/unknown-region', get('/v2/systemsharedmemory/region/nope/status')),
  row('http', 'http/shared-memory/unregister-unknown', post('/v2/systemsharedmemory/region/nope/unregister'), { changes: true }),
  row('http', 'http/cuda-memory/status', get('/v2/cudasharedmemory/status')),
  row('http', 'http/cuda-memory/unknown-region', get('/v2/cudasharedmemory/region/nope/status')),
  row(
    'http',
    'http/cuda-memory/bad-handle',
    post('/v2/cudasharedmemory/region/nope/register', { raw_handle: { b64: 'x' }, device_id: 0, byte_size: 8 }),
    { changes: true },
  ),
  row(
    'grpc',
    'grpc/cuda-memory/no-handle',
    grpc('CudaSharedMemoryRegister', { name: 'nope', raw_handle: Uint8Array.of(1), device_id: '0', byte_size: '4' }),
    { changes: true },
  ),
  row('grpc', 'grpc/shared-memory/unknown-region', grpc('SystemSharedMemoryStatus', { name: 'nope' })),
  row('statistics', 'http/all-statistics', get('/v2/models/stats'), { read: 'fields' }),
  row('metrics', 'metrics/page', { via: 'metrics', method: 'GET', path: '/metrics' }, { read: 'metrics' }),
  row('metrics', 'metrics/unknown-path', { via: 'metrics', method: 'GET', path: '/nope' }),
  row('metrics', 'metrics/wrong-method', { via: 'metrics', method: 'POST', path: '/metrics', body: '' }),
];
