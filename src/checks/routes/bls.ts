import { TranscriptBuilder } from '#core/transcript/index.ts';
import { assertCarries } from './assert-carries.ts';
import { isDecoupled } from './decoupled.ts';
import { ensembleRequest } from './ensemble-request.ts';
import { runGrpcExchange } from './grpc-exchange.ts';
import { promptText, textRouteCannotCarry } from './prompt.ts';
import { textReader } from './read-tensors.ts';
import { uniqueRequestId } from './request-id.ts';
import type { Route } from './types.ts';

/** The models of `ensemble`, called in turn by the Python model `tensorrt_llm_bls`, over gRPC. */
export const bls: Route = blsRoute('bls', 'bls');

/** The same with accumulate_tokens: a stream's every text is the text of all tokens so far. */
export const blsAccumulate: Route = blsRoute('bls-accumulate', 'blsAccumulate');

function blsRoute(id: 'bls' | 'bls-accumulate', name: 'bls' | 'blsAccumulate'): Route {
  const route: Route = {
    id,
    protocol: 'grpc',
    modes: ['stream', 'unary'],
    cannotCarry: (c) => textRouteCannotCarry(c.request),
    run: async (c, context, options) => {
      assertCarries(route, c, options, ['leave', 'deadline']);
      const { clients, models } = context;
      const unary = c.mode === 'unary' && !(await isDecoupled(clients, models[name], options));
      const text = promptText(c.request.prompt, context.tokenizer);
      const request = ensembleRequest(c, uniqueRequestId(c.request.id), text, context, options);
      const builder = new TranscriptBuilder(c, { text });
      const read = textReader(builder, id === 'bls-accumulate');
      return runGrpcExchange({ grpc: clients.grpc, request, unary, builder, read, options });
    },
  };
  return route;
}
