import type { ServerResponse } from 'node:http';
import { type Behaviour, type ClientDriver, type ContractServer, testClientContract } from '../contract.ts';
import { httpServer, unusedAddress } from '../testing.ts';
import { httpClient } from './index.ts';

const DRIVER: ClientDriver = {
  name: 'http',
  codes: { deadline: 'deadline', refused: 'http-400', died: 'http-broken', disposed: 'http-broken' },
  start: async (behaviour) => {
    const cancelled = Promise.withResolvers<void>();
    const server = await httpServer((request, response, body) => {
      response.on('close', () => !response.writableFinished && cancelled.resolve());
      const { text_input: text } = JSON.parse(body.toString()) as { text_input: string };
      answer(behaviour, response, request.url?.endsWith('_stream') ?? false, text);
    });
    return contractServer(server.address, cancelled.promise, () => server[Symbol.asyncDispose]());
  },
  nowhere: async () => contractServer(await unusedAddress(), Promise.resolve(), async () => {}),
};

testClientContract(DRIVER);

function contractServer(address: string, cancelled: Promise<void>, stop: () => PromiseLike<void>): ContractServer {
  const client = httpClient(address);
  return {
    cancelled,
    unary: async (text, options) => String((await client.generate('m', { text_input: text }, options))['text_output']),
    stream: async function* (text, options) {
      const stream = client.openGenerate('m', { text_input: text }, { ...options, stream: true });
      for await (const event of stream.events) yield (event.json as { text_output: string }).text_output;
    },
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await stop();
    },
  };
}

function answer(behaviour: Behaviour, response: ServerResponse, stream: boolean, text: string): void {
  if (behaviour === 'silent') return;
  if (behaviour === 'refuses') {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"no such tensor"}');
    return;
  }
  if (behaviour === 'echoes') {
    const body = JSON.stringify({ text_output: text });
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream; charset=utf-8' : 'application/json' });
    response.end(stream ? `data: ${body}\n\n` : body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  let n = 0;
  const timer = setInterval(() => {
    if (behaviour === 'dies' && n === 3) response.destroy();
    else response.write(`data: {"text_output":"${n++}"}\n\n`);
  }, 2);
  response.on('close', () => clearInterval(timer));
}
