import { createTritonCore, type Model } from '#embedded/core/index.ts';
import { startGrpcServer } from '#embedded/grpc/index.ts';
import { startHttpServer } from '#embedded/http/index.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { bytesTensor, decodeBytesElements } from '#wire/protocol/tensors.ts';
import type { Step } from './repository.ts';

/** The embedded core and its front ends over such a repository. */
export async function startScriptedEmbedded(
  repository: string,
): Promise<{ readonly endpoints: { readonly grpc: string; readonly http: string } } & AsyncDisposable> {
  const core = createTritonCore({
    repository,
    profile: DEFAULT_PROFILE,
    faults: new Set(),
    factory:
      ({ name }) =>
      ({ directory }) => {
        if (name === 'broken') throw new Error(`Internal: RuntimeError: no such thing\n\nAt:\n  ${directory}/1/model.py(4): initialize\n`);
        return PLAYER;
      },
  });
  const where = { core, host: '127.0.0.1', port: 0 };
  const [grpc, http] = [await startGrpcServer(where), await startHttpServer(where)];
  return {
    endpoints: { grpc: `127.0.0.1:${grpc.port}`, http: `127.0.0.1:${http.port}` },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([grpc.close(0), http.close(0)]);
      await core.close();
    },
  };
}

const PLAYER: Model = {
  execute(request, sender) {
    const [script] = decodeBytesElements(request.inputs.get('SCRIPT')!.data);
    void (async () => {
      await sleep(0);
      for (const { waitMs = 0, text, error, final = false } of JSON.parse(Buffer.from(script!).toString()) as readonly Step[]) {
        if (waitMs > 0) await sleep(waitMs);
        // A response with an error has no tensors here: the seam to the models has no way to say both.
        if (error !== undefined) sender.sendError('INTERNAL', error, final);
        else if (text !== undefined) sender.send([bytesTensor('TEXT', [1], [text])], final);
        else if (final) sender.close();
      }
    })();
  },
};
