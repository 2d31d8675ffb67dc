import { basename } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { profileOf } from '#core/profile/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { CoreError, type CoreOptions, type TritonCore, createTritonCore } from './core/index.ts';
import { createEngine } from './engine/index.ts';
import { startGrpcServer } from './grpc/index.ts';
import { startHttpServer, startMetricsServer } from './http/index.ts';
import { embeddedIdentity } from './identity.ts';
import { asGeneration, stockModels } from './models/index.ts';
import { startOpenAiServer } from './openai/index.ts';
import { startTrtllmServe } from './trtllm-serve/index.ts';
import type { EmbeddedOptions } from './options.ts';

export interface EmbeddedServer {
  readonly endpoints: { readonly grpc: string; readonly http: string; readonly metrics: string; readonly openai: string };
  readonly identity: Readonly<Record<string, string>>;
  /** Stops listening, lets running answers end for `graceMs`, then drops them. */
  close(graceMs: number): Promise<void>;
}

/** A real server exits when a model of its repository cannot be loaded, and so does this one. */
function loadCore(options: CoreOptions): TritonCore {
  try {
    return createTritonCore(options);
  } catch (thrown) {
    if (!(thrown instanceof CoreError)) throw thrown;
    throw new LockstepError('model-not-loaded', thrown.message, {
      hint: `Mend the model in ${options.repository}; the text is what a real server would log.`,
      cause: thrown,
    });
  }
}

/**
 * The embedded Triton: one core with the models of a repository, behind four front ends.
 *
 * Errors: `profile-unknown`, `listen-failed`, those of the tokenizer and the checkpoint.
 */
export async function startEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const profile = profileOf(options.profile);
  const faults = new Set(options.faults);
  const tokenizer = loadTokenizer(options.checkpoint);
  const engine = createEngine({
    engine: options.engine,
    checkpoint: options.checkpoint,
    reduction: options.reduction,
    stepMs: options.stepMs,
    faults: options.faults,
  });
  const core = loadCore({
    repository: options.repository,
    profile,
    faults,
    factory: stockModels({ engine, profile, faults }),
    configure: (config) => asGeneration(config, profile.models),
    onClose: () => engine.close(),
  });

  const closers: ((graceMs: number) => Promise<void>)[] = [];
  try {
    const { host } = options;
    const grpc = await startGrpcServer({ core, host, port: options.grpcPort, faults });
    closers.push((ms) => grpc.close(ms));
    const http = await startHttpServer({ core, host, port: options.httpPort, faults });
    closers.push((ms) => http.close(ms));
    const metrics = await startMetricsServer({ host, port: options.metricsPort, metricsText: () => core.metricsText() });
    closers.push((ms) => metrics.close(ms));
    const { trtllmServe } = profile.openai;
    const port = options.openaiPort;
    const openai =
      trtllmServe === undefined
        ? await startOpenAiServer({ core, tokenizer, host, port, faults })
        : await startTrtllmServe({
            engine,
            tokenizer,
            profile,
            facts: trtllmServe,
            model: basename(options.checkpoint),
            host,
            port,
            faults,
          });
    closers.push((ms) => openai.close(ms));
    return {
      endpoints: {
        grpc: `${host}:${grpc.port}`,
        http: `${host}:${http.port}`,
        metrics: `${host}:${metrics.port}`,
        openai: `http://${host}:${openai.port}`,
      },
      identity: embeddedIdentity(options, profile),
      close: async (graceMs) => {
        await Promise.all(closers.map((close) => close(graceMs)));
        await core.close();
      },
    };
  } catch (thrown) {
    await Promise.all(closers.map((close) => close(0)));
    await core.close();
    throw thrown;
  }
}
