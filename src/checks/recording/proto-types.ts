/** The message types of Triton's gRPC services, reflected from proto/. */
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { PROTO_DIR } from '#wire/protocol/config-schema.ts';
import type { Side } from './types.ts';

let loaded: protobuf.Root | undefined;

function root(): protobuf.Root {
  if (loaded === undefined) {
    loaded = new protobuf.Root();
    loaded.loadSync([join(PROTO_DIR, 'grpc_service.proto'), join(PROTO_DIR, 'health.proto')], { keepCase: true });
    loaded.resolveAll();
  }
  return loaded;
}

/** What one side of an RPC sends, by its path (`/package.Service/Method`); undefined for RPCs that are not Triton's. */
export function messageType(path: string, from: Side): protobuf.Type | undefined {
  const [, service, method] = /^\/([\w.]+)\/(\w+)$/.exec(path) ?? [];
  if (service === undefined || method === undefined) return undefined;
  const found = root().lookup(service);
  if (!(found instanceof protobuf.Service) || !Object.hasOwn(found.methods, method)) return undefined;
  const { resolvedRequestType, resolvedResponseType } = found.methods[method]!;
  return (from === 'client' ? resolvedRequestType : resolvedResponseType) ?? undefined;
}
