import { LockstepError } from '#core/errors/index.ts';
import { TranscriptBuilder } from '#core/transcript/index.ts';
import type { CallOptions, GrpcClient } from '#wire/clients/index.ts';
import { assertCarries } from './assert-carries.ts';
import { isDecoupled } from './decoupled.ts';
import { runGrpcExchange } from './grpc-exchange.ts';
import { promptIds } from './prompt.ts';
import { rawRequest, stopRequest } from './raw-request.ts';
import { rawReader } from './read-tensors.ts';
import { uniqueRequestId } from './request-id.ts';
import type { Route } from './types.ts';

/** Straight to `tensorrt_llm`: ids in, ids out, the tokenizer on this side. */
export const raw: Route = {
  id: 'raw',
  protocol: 'grpc',
  modes: ['stream', 'unary'],
  cannotCarry: () => undefined,
  run: async (c, context, options) => {
    assertCarries(raw, c, options, ['leave', 'deadline', 'stop-tensor']);
    const { clients, models } = context;
    const unary = c.mode === 'unary' && !(await isDecoupled(clients, models.raw, options));
    const ids = promptIds(c.request.prompt, context.tokenizer);
    const id = uniqueRequestId(c.request.id);
    const request = rawRequest(c, id, ids, context, options);
    const builder = new TranscriptBuilder(c, { ids });
    return runGrpcExchange({
      grpc: clients.grpc,
      request,
      unary,
      builder,
      read: rawReader(builder),
      options,
      stop: (call) => sendStop(clients.grpc, models.raw, id, call),
    });
  },
};

/** On a stream of its own, up to its final flag. Errors: `stop-refused` (in-band), and those of the stream. */
async function sendStop(grpc: GrpcClient, model: string, id: string, options: CallOptions): Promise<void> {
  await using stream = grpc.openStream(options);
  void stream.send(stopRequest(model, id));
  stream.halfClose();
  for await (const message of stream.messages) {
    if (message.errorMessage !== undefined)
      throw new LockstepError('stop-refused', message.errorMessage, { hint: 'Look at the server log for the stop request.' });
  }
}
