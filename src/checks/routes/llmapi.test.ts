import type { ServerDuplexStream } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { countFlag, FLAG, textOfEvent } from '#core/transcript/index.ts';
import { grpcServer } from '#wire/clients/testing.ts';
import type { ModelInferRequest } from '#wire/protocol/grpc-messages.ts';
import { bytesTensor } from '#wire/protocol/tensors.ts';
import { ROUTES } from './index.ts';
import { caseOn, contextOf } from './testing.ts';

const OPTIONS = { deadlineMs: 10_000 };

interface Said {
  readonly text?: string;
  readonly reason?: string;
  readonly error?: string;
  readonly final?: boolean;
}

type Script = (request: ModelInferRequest, send: (said: Said) => void, end: () => void) => void;

/** A server whose model says what the script says, and keeps what it was asked. */
async function saying(script: Script) {
  const asked: ModelInferRequest[] = [];
  const server = await grpcServer({
    ModelStreamInfer: (call: ServerDuplexStream<ModelInferRequest, object>) =>
      call.on('data', (request: ModelInferRequest) => {
        asked.push(request);
        const send = ({ text, reason, error = '', final = false }: Said): void => {
          const tensors = [
            ...(text === undefined ? [] : [bytesTensor('text_output', [1], [text])]),
            ...(reason === undefined ? [] : [bytesTensor('finish_reason', [1], [reason])]),
          ];
          call.write({
            error_message: error,
            infer_response: {
              model_name: 'llmapi',
              id: request.id,
              parameters: { triton_final_response: { bool_param: final } },
              outputs: tensors.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
              raw_output_contents: tensors.map(({ data }) => data),
            },
          });
        };
        script(request, send, () => call.end());
      }),
  });
  return { ...server, asked, context: contextOf({ grpc: server.address }) };
}

test('whole texts become what each event added; None is no finish reason', async () => {
  await using server = await saying((_, send, end) => {
    send({ text: 'He', reason: 'None' });
    send({ text: 'Hello', reason: 'None' });
    send({ text: 'Hello', reason: 'stop', final: true });
    end();
  });
  const t = await ROUTES.llmapi.run(caseOn('llmapi'), server.context, OPTIONS);
  expect(t).toMatchObject({ text: 'Hello', ending: 'complete', errors: [], revisions: [], finishReasons: [{ event: 2, reason: 'stop' }] });
  expect([0, 1, 2].map((i) => textOfEvent(t, i))).toEqual(['He', 'llo', '']);
  expect(countFlag(t, FLAG.final)).toBe(1);
  expect(server.asked[0]?.inputs.map((i) => [i.name, i.shape.join()])).toEqual(
    ['text_input', 'streaming', 'sampling_param_max_tokens', 'sampling_param_exclude_input_from_output', 'return_finish_reason'].map(
      (name) => [name, '1'],
    ),
  );
});

test('a text that takes back what was there is seen', async () => {
  await using server = await saying((_, send, end) => {
    send({ text: 'Hello world' });
    send({ text: 'Hello wor', reason: 'stop', final: true });
    end();
  });
  const t = await ROUTES.llmapi.run(caseOn('llmapi', { limits: { maxTokens: 8, stopWords: ['ld of'] } }), server.context, OPTIONS);
  expect(t).toMatchObject({ text: 'Hello wor', revisions: [{ event: 1, kept: 9, dropped: 'ld' }] });
});

test.each([
  ['Request cancelled by client', []],
  ['out of memory', [{ event: -1, code: 'stop-refused', message: expect.stringContaining('out of memory') as string }]],
])('a stop request that is answered %j', async (error, errors) => {
  let ended = (): void => {};
  await using server = await saying((request, send, end) => {
    if (request.inputs.some((i) => i.name === 'stop')) {
      send({ error, final: true });
      end();
      ended();
      return;
    }
    send({ text: 'He', reason: 'None' });
    ended = () => {
      send({ text: 'He', reason: 'cancelled', final: true });
      end();
    };
  });
  const t = await ROUTES.llmapi.run(caseOn('llmapi'), server.context, { ...OPTIONS, cancel: { how: 'stop-tensor', afterEvents: 1 } });
  expect(t).toMatchObject({ text: 'He', ending: 'complete', errors, finishReasons: [{ event: 1, reason: 'cancelled' }] });
  expect(server.asked[1]?.id).toBe(server.asked[0]?.id);
});

test('what has no input there is not carried', () => {
  const limits = { maxTokens: 8, minTokens: 4 };
  expect(ROUTES.llmapi.cannotCarry(caseOn('llmapi', { limits }))).toMatch(/no input for a least number/);
  expect(ROUTES.llmapi.cannotCarry(caseOn('llmapi', { prompt: { kind: 'ids', ids: [1] } }))).toMatch(/cannot send token ids/);
  expect(ROUTES.llmapi.cannotCarry(caseOn('llmapi'))).toBeUndefined();
});
