import { LockstepError } from '#core/errors/index.ts';
import { TranscriptBuilder } from '#core/transcript/index.ts';
import type { Request } from '#core/request/index.ts';
import type { CallOptions, GrpcClient } from '#wire/clients/index.ts';
import { assertCarries } from './assert-carries.ts';
import { isDecoupled } from './decoupled.ts';
import { runGrpcExchange } from './grpc-exchange.ts';
import { llmapiRequest, llmapiStopRequest } from './llmapi-request.ts';
import { promptText, textRouteCannotCarry } from './prompt.ts';
import { llmapiReader } from './read-tensors.ts';
import { uniqueRequestId } from './request-id.ts';
import type { Route } from './types.ts';

/** The model of TensorRT-LLM's LLM API, over gRPC: text in, the whole text so far out, the PyTorch back end behind it. */
export const llmapi: Route = {
  id: 'llmapi',
  protocol: 'grpc',
  modes: ['stream', 'unary'],
  cannotCarry: (c) => textRouteCannotCarry(c.request) ?? hasNoTensor(c.request),
  run: async (c, context, options) => {
    assertCarries(llmapi, c, options, ['leave', 'deadline', 'stop-tensor']);
    const { clients, models } = context;
    const unary = c.mode === 'unary' && !(await isDecoupled(clients, models.llmapi, options));
    const text = promptText(c.request.prompt, context.tokenizer);
    const id = uniqueRequestId(c.request.id);
    const request = llmapiRequest(c, id, text, models.llmapi);
    const builder = new TranscriptBuilder(c, { text });
    return runGrpcExchange({
      grpc: clients.grpc,
      request,
      unary,
      builder,
      read: llmapiReader(builder),
      options,
      stop: (call) => sendStop(clients.grpc, models.llmapi, id, call),
    });
  },
};

function hasNoTensor({ limits }: Request): string | undefined {
  return limits.minTokens === undefined ? undefined : 'the LLM API model has no input for a least number of tokens';
}

/** What the order itself is answered with, whether it stopped something or not (docs/observed.md#torch-path). */
const STOPPED = 'Request cancelled by client';

/** Errors: `stop-refused` when the order is answered in another way, and those of the stream. */
async function sendStop(grpc: GrpcClient, model: string, id: string, options: CallOptions): Promise<void> {
  await using stream = grpc.openStream(options);
  void stream.send(llmapiStopRequest(model, id));
  stream.halfClose();
  let said = 'nothing';
  for await (const message of stream.messages) said = message.errorMessage ?? 'a response without an error';
  if (said !== STOPPED)
    throw new LockstepError('stop-refused', `${said}, not ${JSON.stringify(STOPPED)}`, {
      hint: 'Look at the server log for the stop request.',
    });
}
