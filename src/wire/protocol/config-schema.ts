import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

/** Folder of the wire contract (proto/ at the root of the project). */
export const PROTO_DIR = fileURLToPath(new URL('../../../proto/', import.meta.url));

let loaded: protobuf.Type | undefined;

/** The reflected type of `inference.ModelConfig`, fields in the order in which /config prints them. */
export function modelConfigType(): protobuf.Type {
  if (loaded === undefined) {
    const root = new protobuf.Root();
    root.loadSync(`${PROTO_DIR}model_config.proto`, { keepCase: true });
    root.resolveAll();
    loaded = root.lookupType('inference.ModelConfig');
  }
  return loaded;
}
