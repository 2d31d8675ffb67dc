import type { ServerResponse } from 'node:http';
import { type Behaviour, type ClientDriver, type ContractServer, testClientContract } from '../contract.ts';
import { httpServer, unusedAddress } from '../testing.ts';
import { openAiClient } from './index.ts';
import type { Completion } from './types.ts';

const DRIVER: ClientDriver = {
  name: 'openai',
  codes: { deadline: 'deadline', refused: 'http-400', died: 'http-broken', disposed: 'http-broken' },
  start: async (behaviour) => {
    const cancelled = Promise.withResolvers<void>();
    const server = await httpServer((_request, response, body) => {
      response.on('close', () => !response.writableFinished && cancelled.resolve());
      const { prompt, stream } = JSON.parse(body.toString()) as { prompt: string; stream: boolean };
      answer(behaviour, response, stream, prompt);
    });
    return contractServer(server.address, cancelled.promise, () => server[Symbol.asyncDispose]());
  },
  nowhere: async () => contractServer(await unusedAddress(), Promise.resolve(), async () => {}),
};

testClientContract(DRIVER);

function contractServer(address: string, cancelled: Promise<void>, stop: () => PromiseLike<void>): ContractServer {
  const client = openAiClient(`http://${address}`);
  return {
    cancelled,
    unary: async (text, options) => textOf(await client.complete({ model: 'm', prompt: text }, options)),
    stream: async function* (text, options) {
      const stream = client.openCompletions({ model: 'm', prompt: text, stream: true }, options);
      for await (const event of stream.events) if (!event.done) yield textOf(event.json as Completion);
    },
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await stop();
    },
  };
}

function textOf(completion: Completion): string {
  return completion.choices[0]?.text ?? '';
}

function answer(behaviour: Behaviour, response: ServerResponse, stream: boolean, prompt: string): void {
  if (behaviour === 'silent') return;
  if (behaviour === 'refuses') {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"detail":"no such tensor"}');
    return;
  }
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream; charset=utf-8' : 'application/json' });
  if (behaviour === 'echoes') {
    response.end(stream ? `data: ${completion(prompt)}\n\ndata: [DONE]\n\n` : completion(prompt));
    return;
  }
  let n = 0;
  const timer = setInterval(() => {
    if (behaviour === 'dies' && n === 3) response.destroy();
    else response.write(`data: ${completion(String(n++))}\n\n`);
  }, 2);
  response.on('close', () => clearInterval(timer));
}

function completion(text: string): string {
  return JSON.stringify({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, text, finish_reason: null }],
  });
}
