/** What clients see of `tensorrt_llm_bls`: literals observed on running servers (docs/observed.md#bls), by name. */
import { type Tensor, decodeBytesElements } from '#wire/protocol/tensors.ts';
import { type RpcCase, type StreamCase } from './grpc-tables.ts';
import { thrown } from './for-release.ts';
import type { HttpCase } from './http-tables.ts';
import { type Dialect, onBoth } from './dialects.ts';
import { EMPTY_FINAL, bool, bytes, ensemble, int32, streaming } from './requests.ts';
import { CHUNKED, UNMISSED, WITH_COUNTS } from './table-claim.ts';
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
  ...onBoth<StreamCase>((d) => [
    { name: 'EOS at once: one empty text, then the flag alone', requests: [bls(d.silence, 9, [streaming])], messages: [{ ...TEXT, outputs: [{ name: 'text_output', datatype: 'BYTES', shape: (s: number[]) => s.join() === '1' }] }, FLAG_ALONE] },
    { name: 'max_tokens: as many texts, then the flag alone', requests: [bls(d.count, 2, [streaming])], messages: [TEXT, TEXT, FLAG_ALONE] },
    { name: 'without the empty-final parameter nothing says true', requests: [bls(d.count, 2, [streaming], { parameters: {} })], messages: finals(false, false) },
    { name: 'no parameters but the flag, and the request id in every message', requests: [bls(d.count, 1, [streaming], { id: 'q7' })], messages: (ms: any[]) => ms.length === 2 && ms.every((m) => m.id === 'q7' && Object.keys(m.parameters).join() === 'triton_final_response') },
    { name: 'not streamed: prompt and answer in one text, then the flag alone', requests: [bls(d.silence, 9)], messages: (ms: any[]) => ms.length === 2 && texts(ms[0]).join() === d.silenceShown && finals(false, true)(ms) },
    { ...WITH_COUNTS, name: 'text_output comes first, what was asked for behind it', requests: [bls(d.count, 1, [streaming, bool('return_log_probs', [1, 1], [true]), bool('return_num_output_tokens', [1, 1], [true])])], messages: (ms: any[]) => names(ms[0]) === 'text_output,cum_log_probs,output_log_probs,num_output_tokens' },
    { holds: ({ models }) => !models.bls.forwardsSequences.value, name: 'num_return_sequences is for nobody', requests: [bls(d.count, 1, [streaming, int32('num_return_sequences', [1, 1], [2])])], messages: (ms: any[]) => ms.length === 2 && names(ms[0]) === 'text_output' },
    { name: 'two prompts: each text says whose it is', requests: [{ model: BLS, parameters: EMPTY_FINAL, inputs: [bytes('text_input', [2, 1], [d.count, d.count]), int32('max_tokens', [2, 1], [1, 1]), bool('stream', [2, 1], [true, true])] }], messages: (ms: any[]) => ms.length === 3 && ms.slice(0, 2).every((m) => names(m) === 'text_output,batch_index' && texts(m).length === 1) && finals(false, false, true)(ms) },
    { ...CHUNKED, name: 'every token is decoded alone, and a list loses the space at its front where the tokenizer does so', requests: [bls(d.count, d.pieces.length, [streaming])], messages: (ms: any[]) => ms.slice(0, -1).flatMap(texts).join('|') === d.pieces.join('|') },
    { name: 'not streamed: control tokens are skipped, and the space between prompt and answer stays', requests: [bls(d.count, 60)], messages: (ms: any[]) => texts(ms[0]).join() === d.countShown + d.between + d.counted },
    { name: 'accumulated: every text begins with the one before', requests: [bls(d.count, 5, [streaming], { model: ACCUMULATE })], messages: (ms: any[]) => ms.length === 6 && ms.slice(1, 5).every((m, i) => texts(m)[0]!.startsWith(texts(ms[i])[0]!) && texts(m)[0] !== texts(ms[i])[0]) },
    { name: 'accumulated, at EOS: the last text twice', requests: [bls(d.count, 60, [streaming], { model: ACCUMULATE })], messages: (ms: any[]) => ms.length > 3 && texts(ms.at(-2))[0] === d.counted && texts(ms.at(-3))[0] === d.counted },
    { name: 'no token at all: a traceback that is not the end, then the flag alone', requests: [bls('x', 0)], messages: [{ error: NO_TOKENS, final: false, version: '' }, FLAG_ALONE] },
    { ...UNMISSED, name: 'no max_tokens, other inputs present: the same', requests: [{ model: BLS, inputs: [bytes('text_input', [1, 1], ['x']), streaming], parameters: EMPTY_FINAL }], messages: [{ error: NO_TOKENS, final: false }, FLAG_ALONE] },
    thrown(OF_PREPROCESSING, (text): StreamCase => ({ name: 'an error of preprocessing is at the end of a traceback', requests: [bls('x', 1, BIAS)], messages: [{ error: text, final: false }, FLAG_ALONE] })),
    { ...WITH_COUNTS, name: 'text_input alone is refused by count', requests: [{ model: BLS, inputs: [bytes('text_input', [1, 1], ['x'])] }], messages: [{ error: /expected number of inputs between 2 and 42 but got 1 inputs for model 'tensorrt_llm_bls'/, final: undefined }] },
    { name: 'there is no stop', requests: [bls('x', 1, [bool('stop', [1, 1], [true])])], messages: [{ error: "unexpected inference input 'stop' for model 'tensorrt_llm_bls'", final: undefined }] },
  ]),
];

const path = (verb: string, model = BLS) => `/v2/models/${model}/${verb}`;

export const BLS_HTTP: readonly HttpCase[] = [
  ...onBoth<HttpCase>((d) => [
    { name: 'generate has no sequence fields', path: path('generate'), body: { text_input: d.silence, max_tokens: 5, exclude_input_in_output: true }, status: 200, text: `{"model_name":"${BLS}","model_version":"1","text_output":""}` },
    { name: 'a stream is one event per text, and the flag alone is none', path: path('generate_stream'), body: { text_input: d.silence, max_tokens: 5, stream: true }, status: 200, text: `data: {"model_name":"${BLS}","model_version":"1","text_output":""}\n\n` },
    { name: 'generate: an error first is 400', path: path('generate'), body: { text_input: 'x', max_tokens: 0 }, status: 400, json: { error: NO_TOKENS } },
    { name: 'generate_stream: an error first is 400 and an event', path: path('generate_stream'), body: { text_input: 'x', max_tokens: 0 }, status: 400, text: /^data: \{"error":"Traceback \(most recent call last\):\\n[^\n]*RequestValidationError: max_tokens must be a single value > 0\\n"\}\n\n$/ },
  ]),
];

/** A repository without the decoupled policy: one response to everything, unary calls included. */
const DEADLOCK = /^in ensemble 'ensemble', \[request id: <id_unknown>\] unexpected deadlock, at least one output is not set while no more ensemble steps can be made$/;
const unary = (name: string, request: Infer, code: string, details?: unknown): RpcCase => ({ name, rpc: 'ModelInfer', request: inferMessage(request), code, ...(details === undefined ? {} : { details }) });
const bare = (model: string): Infer => ({ model, inputs: [bytes('text_input', [1, 1], ['x']), bool('stream', [1, 1], [false])] });
const saysNothing = ({ silenceShown }: Dialect) => ({ outputs: (o: any[]) => o.some((x) => x.name === 'text_output'), raw_output_contents: (r: any[]) => r.some((data) => Buffer.from(data).toString().endsWith(silenceShown)) });
const MODELS = ['ensemble', BLS, ACCUMULATE];

export const UNARY_RPCS: readonly RpcCase[] = onBoth((d) => [
  ...MODELS.map((model): RpcCase => ({ ...unary(`${model} answers a unary call with prompt and answer`, { ...ensemble(d.silence, 5), model }, 'OK'), body: { model_name: model, ...saysNothing(d) } })),
  unary('raw answers a unary call', { model: 'tensorrt_llm', inputs: [int32('input_ids', [1, 2], [0, 4]), int32('input_lengths', [1, 1], [2]), int32('request_output_len', [1, 1], [1])] }, 'OK'),
  { ...unary('a stop gets a response without outputs', { model: 'tensorrt_llm', id: 'nobody', inputs: [int32('input_ids', [1, 1], [1]), int32('input_lengths', [1, 1], [0]), int32('request_output_len', [1, 1], [0]), bool('stop', [1, 1], [true])] }, 'OK'), body: { outputs: [] } },
  { ...unary('an ensemble without max_tokens is a deadlock', bare('ensemble'), 'INVALID_ARGUMENT', DEADLOCK), ...UNMISSED },
  { ...unary('a BLS without max_tokens is its traceback', bare(BLS), 'INTERNAL', NO_TOKENS), ...UNMISSED },
  unary('an error of preprocessing, through the BLS', { ...ensemble('x', 1, BIAS), model: BLS }, 'INTERNAL', OF_PREPROCESSING),
  unary('an error of the engine, through the BLS', { ...ensemble(d.silence, 5, [streaming]), model: BLS }, 'INTERNAL', traceback('\\nc_python_backend_utils\\.TritonModelException: Streaming is only supported if model is deployed using decoupled mode\\.')),
]);

export const UNARY_STREAMS: readonly StreamCase[] = onBoth((d) => MODELS.map((model) => ({
  name: `${model} gives a stream one message, final`,
  requests: [{ ...ensemble(d.silence, 5), model, parameters: EMPTY_FINAL }],
  messages: [{ final: true, error: '', model, version: '1' }],
})));

const inputsOf = ({ silence }: Dialect) => [
  { name: 'text_input', shape: [1, 1], datatype: 'BYTES', data: [silence] },
  { name: 'max_tokens', shape: [1, 1], datatype: 'INT32', data: [5] },
];

export const UNARY_HTTP: readonly HttpCase[] = onBoth((d) => [
  ...MODELS.map((model): HttpCase => ({ name: `${model} answers infer`, path: path('infer', model), body: { inputs: inputsOf(d) }, status: 200, json: { model_name: model, outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [1], data: [d.silenceShown] }] } })),
  { name: 'infer on the ensemble has the sequence parameters', path: path('infer', 'ensemble'), body: { inputs: inputsOf(d) }, status: 200, json: { parameters: { sequence_id: 0, sequence_start: false, sequence_end: false } } },
  { name: 'infer on the BLS has no parameters', path: path('infer'), body: { inputs: inputsOf(d) }, status: 200, json: (v: any) => v.parameters === undefined },
  { name: 'generate on the BLS', path: path('generate'), body: { text_input: d.silence, max_tokens: 5, exclude_input_in_output: true }, status: 200, json: { text_output: '' } },
  { ...UNMISSED, name: 'an ensemble without max_tokens is a deadlock', path: path('generate', 'ensemble'), body: { text_input: 'x', stream: false }, status: 400, json: { error: DEADLOCK } },
  { ...UNMISSED, name: 'a BLS without max_tokens is its traceback', path: path('generate'), body: { text_input: 'x', stream: false }, status: 400, json: { error: NO_TOKENS } },
  { ...UNMISSED, name: 'infer answers the same with 500', path: path('infer'), body: { inputs: [inputsOf(d)[0], { name: 'stream', shape: [1, 1], datatype: 'BOOL', data: [false] }] }, status: 500, json: { error: NO_TOKENS } },
]);

/** stream: true reaches the engine of a stock repository, which refuses it as its first response; the headers have left by then. */
export const UNARY_OPENAI: readonly HttpCase[] = onBoth((d) => [
  { name: 'a completion', path: '/v1/completions', body: { model: 'ensemble', prompt: d.silence, temperature: 0, top_p: 0 }, status: 200, json: { choices: [{ finish_reason: 'stop' }] } },
  { name: 'a streamed completion is cut before its first event', path: '/v1/completions', body: { model: 'ensemble', prompt: 'x', stream: true }, status: 200, cut: true, type: /^text\/event-stream/, text: '' },
  { name: 'a streamed chat is cut behind its role', path: '/v1/chat/completions', body: { model: 'ensemble', messages: [{ role: 'user', content: 'x' }], stream: true }, status: 200, cut: true, text: (body: string) => body.split('\n\n').length === 2 && body.includes('"role":"assistant"') },
]);
