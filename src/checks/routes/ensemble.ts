import { TranscriptBuilder } from '#core/transcript/index.ts';
import { assertCarries } from './assert-carries.ts';
import { isDecoupled } from './decoupled.ts';
import { ensembleRequest } from './ensemble-request.ts';
import { runGrpcExchange } from './grpc-exchange.ts';
import { promptText, textRouteCannotCarry } from './prompt.ts';
import { textReader } from './read-tensors.ts';
import { uniqueRequestId } from './request-id.ts';
import type { Route } from './types.ts';

/** preprocessing, tensorrt_llm and postprocessing on the server, over gRPC: text in, text out. */
export const ensemble: Route = {
  id: 'ensemble',
  protocol: 'grpc',
  modes: ['stream', 'unary'],
  cannotCarry: (c) => textRouteCannotCarry(c.request),
  run: async (c, context, options) => {
    assertCarries(ensemble, c, options, ['leave', 'deadline']);
    const { clients, models } = context;
    const unary = c.mode === 'unary' && !(await isDecoupled(clients, models.ensemble, options));
    const text = promptText(c.request.prompt, context.tokenizer);
    const request = ensembleRequest(c, uniqueRequestId(c.request.id), text, context, options);
    const builder = new TranscriptBuilder(c, { text });
    return runGrpcExchange({ grpc: clients.grpc, request, unary, builder, read: textReader(builder), options });
  },
};
