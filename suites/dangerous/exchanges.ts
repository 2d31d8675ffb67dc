/** What is sent, and what it was seen to do to whom. Releases and threads: docs/observed.md#crashes. */
import { nowNs } from '#core/clock/index.ts';
import { COUNT, bytes, ensemble, int32 } from '../protocol/requests.ts';
import { PlainGrpc, http, inferMessage, openAiOf } from '../protocol/wire.ts';
import { stopOfWholeAnswer } from './stop-of-whole-answer.ts';
import type { DangerousExchange } from './types.ts';

/** libevhtp parses the query in a form body; from here on the parser runs over its own buffer. */
const FORM = Buffer.alloc(4 * 1024 * 1024, 'a');
const FORM_ROUTES = [
  '/v2/models/ensemble/generate',
  '/v2/models/ensemble/generate_stream',
  '/v2/models/preprocessing/infer',
  '/v2/health/live',
  '/v2/repository/index',
  '/v2/logging',
  '/v3',
  '/metrics',
];

/** More tokens than the positions of the tiny checkpoints, fewer than the 8192 that a prompt may have before a stream begins. */
const TOO_LONG = 'long '.repeat(900);

export const EXCHANGES: readonly DangerousExchange[] = [
  {
    id: 'form-body',
    statement:
      'A form-encoded body of 4 MiB, what curl -d sends of itself, is answered or refused by every route, and the server lives on.',
    known:
      'tritonserver 2.33, 2.42 and 2.51, and newer cores behind its front ends, end with signal 11 in evhtp_parse_query_wflags at the first such body, whatever its route',
    thread: 'docs/observed.md#crashes',
    times: FORM_ROUTES.length,
    async send(lab, i) {
      const { endpoints } = lab.parts;
      const path = FORM_ROUTES[i]!;
      const reply = await http(path === '/metrics' ? { ...endpoints, http: endpoints.metrics ?? endpoints.http } : endpoints, {
        path,
        method: 'POST',
        body: FORM,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        deadlineMs: lab.parts.deadlineMs,
      });
      if (reply.status === 200) return `${path} took it for a request`;
      return reply.status >= 400 && reply.complete ? undefined : `HTTP ${reply.status} of ${path}, cut`;
    },
  },
  {
    id: 'grpc-error-metadata',
    statement: 'Streams with the metadata triton_grpc_error, whose model answers with an error, end with its status every time.',
    known:
      'tritonserver 2.49, 2.50 and 2.51, and newer cores behind its front ends, end with signal 11 after 3 to 83 of them, soonest where the error comes without the final flag',
    thread: 'https://github.com/triton-inference-server/server/issues/7368',
    times: 40,
    async send(lab) {
      using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
      // An error of a model, not of the request; tensorrt_llm_bls says it without the final flag and closes afterwards.
      const model = lab.served(['bls']).length > 0 ? 'tensorrt_llm_bls' : 'ensemble';
      const request = ensemble('', 4, [], {
        model,
        inputs: [bytes('text_input', [1, 1], [Uint8Array.of(0xff)]), int32('max_tokens', [1, 1], [4])],
      });
      const reply = await client.stream([inferMessage(request)], lab.parts.deadlineMs, { triton_grpc_error: 'true' });
      return reply.code === 'OK' && reply.messages.every((m) => m.error === '') ? 'no error came' : undefined;
    },
  },
  {
    id: 'malformed-bytes',
    statement: 'A BYTES tensor that runs past its end is refused, and its model goes on answering.',
    known: 'tritonserver 2.47 and 2.48 never answer it, nor any later request to that model, while it stays ready',
    thread: 'docs/observed.md#crashes',
    times: 2,
    async send(lab) {
      using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
      const cut = { name: 'text_input', datatype: 'BYTES' as const, shape: [1, 1], data: Uint8Array.of(10, 0, 0, 0, 97, 98, 99) };
      const request = ensemble('', 4, [], { inputs: [cut, int32('max_tokens', [1, 1], [4])] });
      const reply = await client.stream([inferMessage(request)], lab.parts.deadlineMs);
      if (reply.code === 'DEADLINE_EXCEEDED') return `no reply within ${lab.parts.deadlineMs} ms`;
      return reply.code === 'OK' && reply.messages.every((m) => m.error === '') ? 'it was accepted' : undefined;
    },
  },
  {
    id: 'unknown-model-stream',
    statement: 'A stream that asks for an unknown model gets an error, and the server lives on.',
    known: 'tritonserver 2.33 ends with signal 11 at the first or second',
    thread: 'docs/observed.md#crashes',
    times: 5,
    async send(lab) {
      using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
      const reply = await client.stream([inferMessage({ model: 'nope', inputs: [] })], lab.parts.deadlineMs);
      return reply.code === 'OK' && reply.messages.every((m) => m.error === '') ? 'no error came' : undefined;
    },
  },
  stopOfWholeAnswer,
  {
    id: 'failed-prompt-of-several',
    statement: 'A completions stream of two prompts, of which the engine refuses one, is refused or comes to an end.',
    known: 'trtllm-serve 1.x ends the answers to the others, and the stream never',
    thread: 'docs/observed.md#trtllm-serve',
    route: 'openai-completions',
    times: 2,
    unless: (lab) => (lab.profile.openai.trtllmServe === undefined ? 'only trtllm-serve takes several prompts in one request' : undefined),
    async send(lab) {
      const { deadlineMs, endpoints } = lab.parts;
      const begunNs = nowNs();
      const reply = await http(openAiOf(endpoints), {
        path: '/v1/completions',
        body: { model: 'm', prompt: [COUNT, TOO_LONG], stream: true, max_tokens: 4 },
        deadlineMs,
      });
      // A cut is an end too; silence for as long as the deadline is none.
      return !reply.complete && (nowNs() - begunNs) / 1e6 >= deadlineMs ? `no end within ${deadlineMs} ms` : undefined;
    },
  },
];
