import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { ModelInferRequest, ModelStreamInferResponse } from '#wire/protocol/grpc-messages.ts';
import { bytesTensor, decodeBytesElements } from '#wire/protocol/tensors.ts';
import { type Behaviour, type ClientDriver, type ContractServer, testClientContract } from '../contract.ts';
import { grpcServer, unusedAddress } from '../testing.ts';
import type { InferMessage, InferRequest } from '../types.ts';
import { grpcClient } from './index.ts';

const DRIVER: ClientDriver = {
  name: 'grpc',
  codes: { deadline: 'grpc-deadline-exceeded', refused: 'grpc-invalid-argument', died: 'grpc-unavailable', disposed: 'grpc-cancelled' },
  start: async (behaviour) => {
    const cancelled = Promise.withResolvers<void>();
    const server = await grpcServer({
      ModelInfer: (call: ServerUnaryCall<ModelInferRequest, object>, answer: sendUnaryData<object>) => {
        call.on('cancelled', () => cancelled.resolve());
        if (behaviour === 'refuses') answer({ code: status.INVALID_ARGUMENT, details: 'no such tensor' });
        if (behaviour === 'echoes') answer(null, echo(call.request));
      },
      ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) => {
        call.on('cancelled', () => cancelled.resolve());
        call.on('data', (request: ModelInferRequest) => streamAnswer(behaviour, call, request));
        call.on('end', () => behaviour === 'echoes' && call.end());
      },
    });
    return contractServer(server.address, cancelled.promise, () => server[Symbol.asyncDispose]());
  },
  nowhere: async () => contractServer(await unusedAddress(), Promise.resolve(), async () => {}),
};

testClientContract(DRIVER);

function contractServer(address: string, cancelled: Promise<void>, stop: () => PromiseLike<void>): ContractServer {
  const client = grpcClient(address);
  return {
    cancelled,
    unary: async (text, options) => textOf(await client.infer(request(text), options)),
    stream: async function* (text, options) {
      const stream = client.openStream(options);
      void stream.send(request(text));
      stream.halfClose();
      for await (const message of stream.messages) yield textOf(message);
    },
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await stop();
    },
  };
}

function streamAnswer(behaviour: Behaviour, call: ServerDuplexStream<ModelInferRequest, object>, request: ModelInferRequest): void {
  if (behaviour === 'echoes') call.write({ error_message: '', infer_response: echo(request) });
  if (behaviour !== 'endless' && behaviour !== 'dies') return;
  let n = 0;
  const timer = setInterval(() => {
    if (behaviour === 'dies' && n === 3) {
      clearInterval(timer);
      const session = (call as unknown as { call: { stream: { session: { destroy(): void } } } }).call.stream.session;
      setTimeout(() => session.destroy(), 20);
      return;
    }
    call.write({ infer_response: textResponse(request.id, String(n++)) } as unknown as ModelStreamInferResponse);
  }, 2);
  call.on('cancelled', () => clearInterval(timer));
}

function echo(request: ModelInferRequest): object {
  return textResponse(request.id, decodeBytesElements(request.raw_input_contents[0] as Uint8Array)[0]?.toString() ?? '');
}

function textResponse(id: string, text: string): object {
  const { data } = bytesTensor('text', [1], [text]);
  return {
    id,
    model_name: 'm',
    model_version: '1',
    outputs: [{ name: 'text', datatype: 'BYTES', shape: ['1'] }],
    raw_output_contents: [data],
  };
}

function request(text: string): InferRequest {
  return { model: 'm', id: 'r', inputs: [bytesTensor('text', [1], [text])] };
}

function textOf(message: InferMessage): string {
  return Buffer.from(decodeBytesElements(message.outputs[0]?.data ?? new Uint8Array())[0] ?? []).toString();
}
