/** Path to handler, by the same expressions in the same order as HTTPAPIServer::Handle, src/http_server.cc (2.51). */
import { errorJson, type Exchange, reply } from './exchange.ts';
import { type GenerateContext, handleGenerate } from './generate.ts';
import { handleInfer } from './infer.ts';
import { handleHealth, handleLogging, handleModelReady, handleRead, handleRepositoryControl, handleRepositoryIndex } from './management.ts';
import { handleSharedMemory, type MemoryKind } from './shared-memory.ts';
import { handleTrace } from './trace.ts';

const HEALTH = /^\/v2\/health\/(live|ready)$/;
const MODEL = /^\/v2\/models\/([^/]+)(?:\/versions\/([0-9]+))?(?:\/(infer|generate|generate_stream|ready|config|stats|trace\/setting))?$/;
const REPOSITORY = /^\/v2\/repository(?:\/([^/]+))?\/(index|models\/([^/]+)\/(load|unload))$/;
const MEMORY = /^\/v2\/(system|cuda)sharedmemory(?:\/region\/([^/]+))?\/(status|register|unregister)$/;

export async function route(context: GenerateContext, exchange: Exchange): Promise<void> {
  const { core } = context;
  const { path } = exchange;
  if (path === '/v2/models/stats') return handleRead(exchange, () => ({ model_stats: core.modelStatistics('', '') }));
  if (path === '/v2/logging') return handleLogging(core, exchange);
  const model = MODEL.exec(path);
  if (!core.profile.core.generate.value && model?.[3]?.startsWith('generate')) return notFound(exchange);
  if (model !== null && !(model[3] === 'trace/setting' && model[2] !== undefined)) {
    return routeModel(context, exchange, model[1] ?? '', model[2] ?? '', model[3] ?? '');
  }
  if (path === '/v2') return handleRead(exchange, () => core.serverMetadata());
  const health = HEALTH.exec(path);
  if (health !== null) return handleHealth(core, exchange, health[1] ?? '');
  const memory = MEMORY.exec(path);
  if (memory !== null) return handleSharedMemory(core, exchange, memory[1] as MemoryKind, memory[2] ?? '', memory[3] ?? '');
  const repository = REPOSITORY.exec(path);
  if (repository !== null) {
    if (repository[2] === 'index') return handleRepositoryIndex(core, exchange);
    return handleRepositoryControl(core, exchange, repository[1] ?? '', repository[3] ?? '', repository[4] ?? '');
  }
  if (path === '/v2/trace/setting') return handleTrace(core, exchange, '');
  notFound(exchange);
}

function notFound(exchange: Exchange): void {
  if (exchange.core?.httpRouteErrors.value === 'empty') reply(exchange, 400);
  else reply(exchange, 404, errorJson('Not Found'));
}

async function routeModel(context: GenerateContext, exchange: Exchange, model: string, version: string, kind: string): Promise<void> {
  const { core } = context;
  switch (kind) {
    case 'infer':
      return handleInfer(context, exchange, model, version);
    case 'generate':
    case 'generate_stream':
      return handleGenerate(context, exchange, model, version, kind === 'generate_stream');
    case 'ready':
      return handleModelReady(core, exchange, model, version);
    case 'config':
      return handleRead(exchange, () => core.modelConfig(model, version));
    case 'stats':
      return handleRead(exchange, () => ({ model_stats: core.modelStatistics(model, version) }));
    case 'trace/setting':
      return handleTrace(core, exchange, model);
    default:
      return handleRead(exchange, () => core.modelMetadata(model, version));
  }
}
