/** The shared-memory routes. Source: HandleSystemSharedMemory and HandleCudaSharedMemory, src/http_server.cc (2.51). */
import type { TritonCore } from '../core/types.ts';
import { CoreError } from '../core/types.ts';
import { allow, answering, type Exchange, JSON_TYPE, reply, replyJson } from './exchange.ts';
import { asString, asUint, find, memberAsString, parseJson } from './json-access.ts';
import type { JsonValue } from '#wire/protocol/json-value.ts';

/** sizeof(cudaIpcMemHandle_t). */
const CUDA_HANDLE_BYTES = 64;

export type MemoryKind = 'system' | 'cuda';

export function handleSharedMemory(core: TritonCore, exchange: Exchange, kind: MemoryKind, region: string, action: string): Promise<void> {
  return answering(exchange, JSON_TYPE, () => {
    if (!allow(exchange, [action === 'status' ? 'GET' : 'POST'], JSON_TYPE)) return;
    const memory = core.sharedMemory;
    if (action === 'status') {
      replyJson(exchange, kind === 'system' ? memory.systemStatus(region) : memory.cudaStatus(region));
      return;
    }
    if (action === 'unregister') {
      if (kind === 'system') memory.unregisterSystem(region);
      else memory.unregisterCuda(region);
    } else {
      if (region === '') throw new CoreError('INVALID_ARG', `'region name' is necessary to register ${kind} shared memory region`);
      const json = parseJson(exchange.body);
      if (kind === 'system') registerSystem(core, region, json);
      else registerCuda(core, region, json);
    }
    reply(exchange, 200, '', JSON_TYPE);
  });
}

function field(json: JsonValue, key: string): JsonValue {
  const value = find(json, key);
  if (value === undefined) throw new CoreError('INVALID_ARG', `Shared memory register request has no '${key}' field`);
  return value;
}

function registerSystem(core: TritonCore, region: string, json: JsonValue): void {
  const key = asString(field(json, 'key'));
  const offset = find(json, 'offset');
  const start = offset === undefined ? 0 : Number(asUint(offset));
  core.sharedMemory.registerSystem(region, key, start, Number(asUint(field(json, 'byte_size'))));
}

function registerCuda(core: TritonCore, region: string, json: JsonValue): void {
  const handle = Buffer.from(memberAsString(field(json, 'raw_handle'), 'b64'), 'base64');
  const number = (key: string) => {
    const value = find(json, key);
    if (value === undefined) throw new CoreError('INTERNAL', `attempt to access non-existing object member '${key}'`);
    return Number(asUint(value));
  };
  const byteSize = number('byte_size');
  const device = number('device_id');
  if (handle.length !== CUDA_HANDLE_BYTES)
    throw new CoreError('INVALID_ARG', "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t");
  core.sharedMemory.registerCuda(region, handle, device, byteSize);
}
