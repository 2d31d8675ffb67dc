import { randomBytes } from 'node:crypto';
import { withDeadline } from '#core/deadline/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';
import type { Engine } from './engine.ts';
import { engineError } from './engine-error.ts';
import type { Image } from './image.ts';
import { logFrames } from './log-frames.ts';
import { OWNER_LABEL, RUN_LABEL } from './labels.ts';
import { removeContainer } from './remove.ts';
import { parseGpus } from './units.ts';

/** What an image tells only from inside. */
export interface ImageFacts {
  /** Version of the package tensorrt_llm; "unknown" where there is none. */
  readonly tensorrtLlm: string;
  /** `name, driver version, UUID` per GPU that a container gets; empty without GPUs. */
  readonly gpus: readonly string[];
}

/** Reads metadata and imports nothing: the package itself wants a GPU. */
const SCRIPT = `
import importlib.metadata, json, subprocess
try:
    version = importlib.metadata.version("tensorrt_llm")
except importlib.metadata.PackageNotFoundError:
    version = "${UNKNOWN}"
try:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,uuid", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.strip().splitlines()
except Exception:
    gpus = []
print(json.dumps({"tensorrtLlm": version, "gpus": gpus}))
`;

const WITHIN_MS = 120_000;
const known = new Map<string, ImageFacts>();

/**
 * Asks an image in a container of its own, before the server starts; the answer is remembered. An image without Python says
 * nothing. Errors: those of `engineError` (GPUs are asked for here already), `deadline`, `interrupted`.
 */
export async function imageFacts(
  engine: Engine,
  image: Image,
  options: { readonly gpus: string; readonly run: string; readonly owner: string; readonly signal?: AbortSignal | undefined },
): Promise<ImageFacts> {
  const key = `${image.id} ${options.gpus}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const { docker, socket } = engine;
  let id: string | undefined;
  try {
    const text = await withDeadline({ ms: WITHIN_MS, what: 'the image to say what is in it', signal: options.signal }, async () => {
      const container = await docker.createContainer({
        name: `lockstep-probe-${randomBytes(4).toString('hex')}`,
        Image: image.id,
        Entrypoint: ['python3'],
        Cmd: ['-c', SCRIPT],
        Labels: { [RUN_LABEL]: options.run, [OWNER_LABEL]: options.owner },
        HostConfig: { NetworkMode: 'none', DeviceRequests: parseGpus(options.gpus) },
      });
      id = container.id;
      const ended = container.wait({ condition: 'next-exit' });
      ended.catch(() => undefined);
      await container.start();
      await ended;
      return output(await container.logs({ follow: false, stdout: true }));
    });
    const facts = factsOf(text);
    known.set(key, facts);
    return facts;
  } catch (thrown) {
    const error = engineError(thrown, socket);
    if (error.code !== 'image-without-server') throw error;
    return { tensorrtLlm: UNKNOWN, gpus: [] };
  } finally {
    if (id !== undefined) await removeContainer(engine, id).catch(() => undefined);
  }
}

async function output(logs: Buffer): Promise<string> {
  let text = '';
  for await (const { data } of logFrames(chunks(logs))) text += data.toString('utf8');
  return text;
}

async function* chunks(buffer: Buffer): AsyncIterable<Buffer> {
  yield buffer;
}

function factsOf(text: string): ImageFacts {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as ImageFacts;
  } catch {
    return { tensorrtLlm: UNKNOWN, gpus: [] };
  }
}
