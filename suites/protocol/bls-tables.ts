/** What clients see of `tensorrt_llm_bls`: literals observed on running servers (docs/observed.md#bls), by name. */
import { type Tensor, decodeBytesElements } from '#wire/protocol/tensors.ts';
import { type RpcCase, type StreamCase } from './grpc-tables.ts';
import type { HttpCase } from './http-tables.ts';
import { COUNT, EMPTY_FINAL, SILENCE, bool, bytes, ensemble, int32, streaming } from './requests.ts';
import { UNMISSED, WITH_COUNTS } from './table-claim.ts';
import { type Infer, inferMessage } from './wire.ts';

const BLS = 'tensorrt_llm_bls';
const ACCUMULATE = 'tensorrt_llm_bls_accumulate';
const bls = (text: string, maxTokens: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer => ({
  ...ensemble(text, maxTokens, more, { parameters: EMPTY_FINAL, ...rest }),
  model: rest.model ?? BLS,
});

const FLAG_ALONE = { final: true, error: '', outputs: [], model: BLS, version: '' };
const TEXT = { final: false, error: '', model: BLS, version: '1' };
/** A whole traceback whose last line ends so. */
const traceback = (end: string) => new RegExp(`^Traceback \\(most recent call last\\):\\n  File ".*/${BLS}/1/model\\.py", line \\d+, in .*${end}\\n$`, 's');
const NO_TOKENS = traceback('\\nlib\\.decode\\.RequestValidationError: max_tokens must be a single value > 0');
const OF_PREPROCESSING = traceback("\\nc_python_backend_utils\\.TritonModelException: Failed to process the request\\(s\\) for model 'preprocessing_0_0', message: AssertionError: .*");
const BIAS: readonly Tensor[] = [bytes('embedding_bias_words', [1, 2], ['a', 'b']), { name: 'embedding_bias_weights', datatype: 'FP32', shape: [1, 1], data: new Uint8Array(4) }];

const names = (m: any): string => m.outputs.map((o: any) => o.name).join();
const texts = (m: any): string[] => decodeBytesElements(m.raw[m.outputs.findIndex((o: any) => o.name === 'text_output')]).map((b) => Buffer.from(b).toString());
const finals = (...pattern: readonly boolean[]) => (ms: any[]) => ms.map((m) => m.final).join() === pattern.join();

export const BLS_STREAMS: readonly StreamCase[] = [
  { tiny: true, name: 'EOS at once: one empty text, then the flag alone', requests: [bls(SILENCE, 9, [streaming])], messages: [{ ...TEXT, outputs: [{ name: 'text_output', datatype: 'BYTES', shape: (s: number[]) => s.join() === '1' }] }, FLAG_ALONE] },
  { tiny: true, name: 'max_tokens: as many texts, then the flag alone', requests: [bls(COUNT, 2, [streaming])], messages: [TEXT, TEXT, FLAG_ALONE] },
  { tiny: true, name: 'without the empty-final parameter nothing says true', requests: [bls(COUNT, 2, [streaming], { parameters: {} })], messages: finals(false, false) },
  { tiny: true, name: 'no parameters but the flag, and the request id in every message', requests: [bls(COUNT, 1, [streaming], { id: 'q7' })], messages: (ms: any[]) => ms.length === 2 && ms.every((m) => m.id === 'q7' && Object.keys(m.parameters).join() === 'triton_final_response') },
  { tiny: true, name: 'not streamed: prompt and answer in one text, then the flag alone', requests: [bls(SILENCE, 9)], messages: (ms: any[]) => ms.length === 2 && texts(ms[0]).join() === 'Say nothing.' && finals(false, true)(ms) },
  { tiny: true, ...WITH_COUNTS, name: 'text_output comes first, what was asked for behind it', requests: [bls(COUNT, 1, [streaming, bool('return_log_probs', [1, 1], [true]), bool('return_num_output_tokens', [1, 1], [true])])], messages: (ms: any[]) => names(ms[0]) === 'text_output,cum_log_probs,output_log_probs,num_output_tokens' },
  { tiny: true, holds: ({ models }) => !models.bls.forwardsSequences.value, name: 'num_return_sequences is for nobody', requests: [bls(COUNT, 1, [streaming, int32('num_return_sequences', [1, 1], [2])])], messages: (ms: any[]) => ms.length === 2 && names(ms[0]) === 'text_output' },
  { tiny: true, name: 'two prompts: each text says whose it is', requests: [{ model: BLS, parameters: EMPTY_FINAL, inputs: [bytes('text_input', [2, 1], [COUNT, COUNT]), int32('max_tokens', [2, 1], [1, 1]), bool('stream', [2, 1], [true, true])] }], messages: (ms: any[]) => ms.length === 3 && ms.slice(0, 2).every((m) => names(m) === 'text_output,batch_index' && texts(m).length === 1) && finals(false, false, true)(ms) },
  { tiny: true, name: 'accumulated: every text begins with the one before', requests: [bls(COUNT, 5, [streaming], { model: ACCUMULATE })], messages: (ms: any[]) => ms.length === 6 && ms.slice(1, 5).every((m, i) => texts(m)[0]!.startsWith(texts(ms[i])[0]!) && texts(m)[0] !== texts(ms[i])[0]) },
  { tiny: true, name: 'accumulated, at EOS: the last text twice', requests: [bls(COUNT, 60, [streaming], { model: ACCUMULATE })], messages: (ms: any[]) => ms.length > 3 && texts(ms.at(-2))[0] === texts(ms.at(-3))[0] },
  { tiny: true, name: 'no token at all: a traceback that is not the end, then the flag alone', requests: [bls('x', 0)], messages: [{ error: NO_TOKENS, final: false, version: '' }, FLAG_ALONE] },
  { tiny: true, ...UNMISSED, name: 'no max_tokens, other inputs present: the same', requests: [{ model: BLS, inputs: [bytes('text_input', [1, 1], ['x']), streaming], parameters: EMPTY_FINAL }], messages: [{ error: NO_TOKENS, final: false }, FLAG_ALONE] },
  { tiny: true, name: 'an error of preprocessing is at the end of a traceback', requests: [bls('x', 1, BIAS)], messages: [{ error: OF_PREPROCESSING, final: false }, FLAG_ALONE] },
  { tiny: true, ...WITH_COUNTS, name: 'text_input alone is refused by count', requests: [{ model: BLS, inputs: [bytes('text_input', [1, 1], ['x'])] }], messages: [{ error: /expected number of inputs between 2 and 42 but got 1 inputs for model 'tensorrt_llm_bls'/, final: undefined }] },
  { tiny: true, name: 'there is no stop', requests: [bls('x', 1, [bool('stop', [1, 1], [true])])], messages: [{ error: "unexpected inference input 'stop' for model 'tensorrt_llm_bls'", final: undefined }] },
];

const path = (verb: string, model = BLS) => `/v2/models/${model}/${verb}`;

export const BLS_HTTP: readonly HttpCase[] = [
  { tiny: true, name: 'generate has no sequence fields', path: path('generate'), body: { text_input: SILENCE, max_tokens: 5, exclude_input_in_output: true }, status: 200, text: `{"model_name":"${BLS}","model_version":"1","text_output":""}` },
  { tiny: true, name: 'a stream is one event per text, and the flag alone is none', path: path('generate_stream'), body: { text_input: SILENCE, max_tokens: 5, stream: true }, status: 200, text: `data: {"model_name":"${BLS}","model_version":"1","text_output":""}\n\n` },
  { tiny: true, name: 'generate: an error first is 400', path: path('generate'), body: { text_input: 'x', max_tokens: 0 }, status: 400, json: { error: NO_TOKENS } },
  { tiny: true, name: 'generate_stream: an error first is 400 and an event', path: path('generate_stream'), body: { text_input: 'x', max_tokens: 0 }, status: 400, text: /^data: \{"error":"Traceback \(most recent call last\):\\n[^\n]*RequestValidationError: max_tokens must be a single value > 0\\n"\}\n\n$/ },
];

/** A repository without the decoupled policy: one response to everything, unary calls included. */
const DEADLOCK = /^in ensemble 'ensemble', \[request id: <id_unknown>\] unexpected deadlock, at least one output is not set while no more ensemble steps can be made$/;
const unary = (name: string, request: Infer, code: string, details?: unknown): RpcCase => ({ tiny: true, name, rpc: 'ModelInfer', request: inferMessage(request), code, ...(details === undefined ? {} : { details }) });
const bare = (model: string): Infer => ({ model, inputs: [bytes('text_input', [1, 1], ['x']), bool('stream', [1, 1], [false])] });
const saysNothing = { outputs: (o: any[]) => o.some((x) => x.name === 'text_output'), raw_output_contents: (r: any[]) => r.some((data) => Buffer.from(data).toString().endsWith('Say nothing.')) };
const inputs = [
  { name: 'text_input', shape: [1, 1], datatype: 'BYTES', data: [SILENCE] },
  { name: 'max_tokens', shape: [1, 1], datatype: 'INT32', data: [5] },
];

export const UNARY_RPCS: readonly RpcCase[] = [
  ...['ensemble', BLS, ACCUMULATE].map((model): RpcCase => ({ ...unary(`${model} answers a unary call with prompt and answer`, { ...ensemble(SILENCE, 5), model }, 'OK'), body: { model_name: model, ...saysNothing } })),
  unary('raw answers a unary call', { model: 'tensorrt_llm', inputs: [int32('input_ids', [1, 2], [0, 4]), int32('input_lengths', [1, 1], [2]), int32('request_output_len', [1, 1], [1])] }, 'OK'),
  { ...unary('a stop gets a response without outputs', { model: 'tensorrt_llm', id: 'nobody', inputs: [int32('input_ids', [1, 1], [1]), int32('input_lengths', [1, 1], [0]), int32('request_output_len', [1, 1], [0]), bool('stop', [1, 1], [true])] }, 'OK'), body: { outputs: [] } },
  { ...unary('an ensemble without max_tokens is a deadlock', bare('ensemble'), 'INVALID_ARGUMENT', DEADLOCK), ...UNMISSED },
  { ...unary('a BLS without max_tokens is its traceback', bare(BLS), 'INTERNAL', NO_TOKENS), ...UNMISSED },
  unary('an error of preprocessing, through the BLS', { ...ensemble('x', 1, BIAS), model: BLS }, 'INTERNAL', OF_PREPROCESSING),
  unary('an error of the engine, through the BLS', { ...ensemble(SILENCE, 5, [streaming]), model: BLS }, 'INTERNAL', traceback('\\nc_python_backend_utils\\.TritonModelException: Streaming is only supported if model is deployed using decoupled mode\\.')),
];

export const UNARY_STREAMS: readonly StreamCase[] = ['ensemble', BLS, ACCUMULATE].map((model) => ({
  tiny: true,
  name: `${model} gives a stream one message, final`,
  requests: [{ ...ensemble(SILENCE, 5), model, parameters: EMPTY_FINAL }],
  messages: [{ final: true, error: '', model, version: '1' }],
}));

export const UNARY_HTTP: readonly HttpCase[] = [
  ...['ensemble', BLS, ACCUMULATE].map((model): HttpCase => ({ tiny: true, name: `${model} answers infer`, path: path('infer', model), body: { inputs }, status: 200, json: { model_name: model, outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [1], data: ['Say nothing.'] }] } })),
  { tiny: true, name: 'infer on the ensemble has the sequence parameters', path: path('infer', 'ensemble'), body: { inputs }, status: 200, json: { parameters: { sequence_id: 0, sequence_start: false, sequence_end: false } } },
  { tiny: true, name: 'infer on the BLS has no parameters', path: path('infer'), body: { inputs }, status: 200, json: (v: any) => v.parameters === undefined },
  { tiny: true, name: 'generate on the BLS', path: path('generate'), body: { text_input: SILENCE, max_tokens: 5, exclude_input_in_output: true }, status: 200, json: { text_output: '' } },
  { tiny: true, ...UNMISSED, name: 'an ensemble without max_tokens is a deadlock', path: path('generate', 'ensemble'), body: { text_input: 'x', stream: false }, status: 400, json: { error: DEADLOCK } },
  { tiny: true, ...UNMISSED, name: 'a BLS without max_tokens is its traceback', path: path('generate'), body: { text_input: 'x', stream: false }, status: 400, json: { error: NO_TOKENS } },
  { tiny: true, ...UNMISSED, name: 'infer answers the same with 500', path: path('infer'), body: { inputs: [inputs[0], { name: 'stream', shape: [1, 1], datatype: 'BOOL', data: [false] }] }, status: 500, json: { error: NO_TOKENS } },
];

/** stream: true reaches the engine of a stock repository, which refuses it as its first response; the headers have left by then. */
export const UNARY_OPENAI: readonly HttpCase[] = [
  { tiny: true, name: 'a completion', path: '/v1/completions', body: { model: 'ensemble', prompt: SILENCE, temperature: 0, top_p: 0 }, status: 200, json: { choices: [{ finish_reason: 'stop' }] } },
  { tiny: true, name: 'a streamed completion is cut before its first event', path: '/v1/completions', body: { model: 'ensemble', prompt: 'x', stream: true }, status: 200, cut: true, type: /^text\/event-stream/, text: '' },
  { tiny: true, name: 'a streamed chat is cut behind its role', path: '/v1/chat/completions', body: { model: 'ensemble', messages: [{ role: 'user', content: 'x' }], stream: true }, status: 200, cut: true, text: (body: string) => body.split('\n\n').length === 2 && body.includes('"role":"assistant"') },
];
