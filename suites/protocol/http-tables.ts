/** What an HTTP client sees of a Triton 2.51 front end: literals observed on running servers (docs/observed.md). */
import { EXTENSIONS } from './grpc-tables.ts';
import { onBoth } from './dialects.ts';
import { type Until, coded, thrown } from './for-release.ts';
import { RUNS, type TableRow, UNMISSED } from './table-claim.ts';
import type { HttpCall } from './wire.ts';

export interface HttpCase extends HttpCall, TableRow {
  readonly until?: Until<HttpCase>;
  readonly status: number;
  /** Expected JSON body (partial), or undefined. */
  readonly json?: unknown;
  /** Expected text of the whole body. */
  readonly text?: unknown;
  readonly type?: unknown;
  /** The connection ends before the body does. */
  readonly cut?: true;
  /** Headers that the reply must have, by their lower-case names. */
  readonly header?: Readonly<Record<string, unknown>>;
}

const error = (text: unknown) => ({ error: text });
/** One byte per character. */
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const GENERATE = '/v2/models/ensemble/generate';
const STREAM = '/v2/models/ensemble/generate_stream';
const PRE = '/v2/models/preprocessing/infer';
const query = { name: 'QUERY', shape: [1, 1], datatype: 'BYTES', data: ['hi'] };
const length = { name: 'REQUEST_OUTPUT_LEN', shape: [1, 1], datatype: 'INT32', data: [7] };
const EMPTY_400: Partial<HttpCase> = { status: 400, json: undefined, text: '' };
/** An output without elements could not be written. */
const NOTHING_IN_AN_OUTPUT: Until<HttpCase> = { '2.42': { status: 400, json: error("attempt to access non-existing array index '0'") } };
/** A flat array had to be nested as deep as its tensor. */
const SHAPE_BEFORE: Until<HttpCase> = { '2.50': { status: 500, json: error("Unable to parse 'data': Shape does not match true shape of 'data' field") }, '2.41': { status: 400 } };
const EXACTLY_ONE = 'generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses';

export const ROUTES: readonly HttpCase[] = [
  { name: 'live', path: '/v2/health/live', status: 200, text: '', type: /^text\/plain/ },
  { name: 'ready', path: '/v2/health/ready', status: 200, text: '', type: /^text\/plain/ },
  { name: 'server metadata', path: '/v2', status: 200, json: { name: 'triton', extensions: EXTENSIONS }, type: 'application/json' },
  { name: 'unknown route', path: '/v3', status: 404, json: error('Not Found'), until: { '2.36': EMPTY_400 } },
  { name: 'no trailing slash', path: '/v2/', status: 404, json: error('Not Found'), until: { '2.36': EMPTY_400 } },
  { name: 'the OpenAI routes are not here', path: '/v1/models', status: 404, json: error('Not Found'), until: { '2.36': EMPTY_400 } },
  { name: 'GET where POST belongs', path: GENERATE, status: 405, json: error('Method Not Allowed'), until: { '2.36': EMPTY_400 } },
  { name: 'model ready', path: '/v2/models/ensemble/ready', status: 200, text: '' },
  { name: 'unknown model ready', path: '/v2/models/nope/ready', status: 400, json: error('Model version not ready'), until: { '2.36': EMPTY_400 } },
  { name: 'unknown version ready', path: '/v2/models/ensemble/versions/7/ready', status: 400, json: error('Model version not ready'), until: { '2.36': EMPTY_400 } },
  { name: 'model metadata', path: '/v2/models/ensemble', status: 200, json: { name: 'ensemble', versions: ['1'], platform: 'ensemble', inputs: (v: any[]) => v.some((i) => i.name === 'text_input' && i.datatype === 'BYTES' && i.shape.join() === '-1,1') } },
  { name: 'metadata of an unknown model', path: '/v2/models/nope', ...coded(404), json: error("Request for unknown model: 'nope' is not found") },
  { name: 'metadata of an unknown version', path: '/v2/models/ensemble/versions/7', ...coded(404), json: error("Request for unknown model: 'ensemble' version 7 is not found") },
  { name: 'config of the ensemble', path: '/v2/models/ensemble/config', status: 200, json: { name: 'ensemble', ensemble_scheduling: { max_inflight_requests: 0 } }, until: { '2.51': { json: { name: 'ensemble', ensemble_scheduling: { max_inflight_requests: undefined } } } } },
  { stock: true, name: 'config', path: '/v2/models/tensorrt_llm/config', status: 200, json: { name: 'tensorrt_llm', backend: 'python', max_batch_size: 8, model_transaction_policy: { decoupled: true }, version_policy: { latest: { num_versions: 1 } } } },
  { name: 'statistics', path: '/v2/models/ensemble/stats', status: 200, json: { model_stats: [{ name: 'ensemble', version: '1', response_stats: {} }] }, until: { '2.43': { json: { model_stats: [{ name: 'ensemble', version: '1' }] } } } },
  { name: 'index', path: '/v2/repository/index', method: 'POST', status: 200, json: (v: any[]) => ['ensemble', 'postprocessing', 'preprocessing', 'tensorrt_llm'].every((n) => v.some((m) => m.name === n && m.version === '1' && m.state === 'READY')) },
  { name: 'shared memory status', path: '/v2/systemsharedmemory/status', status: 200, json: [] },
  { name: 'status of an unknown region', path: '/v2/systemsharedmemory/region/zz/status', ...coded(404), json: error("Unable to find system shared memory region: 'zz'") },
  { name: 'trace settings', path: '/v2/trace/setting', status: 200, json: { trace_level: ['OFF'], trace_rate: '1000', trace_count: '-1', log_frequency: '0', trace_file: '', trace_mode: 'triton' }, until: { '2.44': { json: (v: object) => Object.keys(v).join() === 'trace_level,trace_rate,trace_count,log_frequency,trace_file' } } },
  { name: 'log settings', path: '/v2/logging', status: 200, json: { log_file: '', log_info: true, log_warning: true, log_error: true } },
];

export const INFER: readonly HttpCase[] = [
  ...onBoth<HttpCase>((d) => [
    { name: 'infer with JSON data', path: PRE, body: { id: 'a', inputs: [query, length], outputs: [{ name: 'OUT_END_ID' }] }, status: 200, json: { id: 'a', model_name: 'preprocessing', model_version: '1', outputs: [{ name: 'OUT_END_ID', datatype: 'INT32', shape: [1, 1], data: [d.ids.eos] }] } },
  ]),
  { name: 'infer on a decoupled model', path: '/v2/models/tensorrt_llm/infer', body: { inputs: [] }, ...coded(501), json: error("HTTP end point doesn't support models with decoupled transaction policy") },
  { name: 'unknown model', path: '/v2/models/nope/infer', body: { inputs: [query] }, ...coded(404), json: error("Request for unknown model: 'nope' is not found") },
  { name: 'unknown input', path: PRE, body: { inputs: [query, length, { name: 'ZZ', shape: [1], datatype: 'INT32', data: [1] }] }, status: 400, json: error("unexpected inference input 'ZZ' for model 'preprocessing'") },
  { name: 'no data', path: PRE, body: { inputs: [{ name: 'QUERY', shape: [1, 1], datatype: 'BYTES' }, length] }, status: 400, json: error("Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in 'parameters'. But no field is set") },
  { name: 'broken JSON', path: PRE, body: '{"a":', ...coded(500), json: error(/^failed to parse the request JSON buffer: Invalid value\. at 5/) },
  { stock: true, name: 'an empty body', path: PRE, body: '', status: 400, json: error(/Raw request must only have 1 input \(found 1\) to be deduced but got 10 inputs in 'preprocessing' model configuration$/) },
  { name: 'a reserved parameter', path: PRE, body: { inputs: [query, length], parameters: { triton_x: 1 } }, status: 400, json: error("parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.") },
  { name: 'a header length out of range', path: PRE, body: '{}', headers: { 'inference-header-content-length': '500' }, status: 400, json: error('inference header size should be in range (0, 2), got: 500') },
  { name: 'an unknown content encoding', path: PRE, body: '{}', headers: { 'content-encoding': 'zzz' }, status: 501, json: error('Unsupported compression type'), until: { '2.41': { status: 400 }, '2.36': { status: 415, json: undefined, text: '' } } },
  thrown(/^Failed to process the request\(s\) for model 'preprocessing_0_0', message: AssertionError: Embedding bias words/, (found): HttpCase => ({ name: 'an error in execute', path: PRE, body: { inputs: [query, length, { name: 'EMBEDDING_BIAS_WORDS', shape: [1, 2], datatype: 'BYTES', data: ['a', 'b'] }, { name: 'EMBEDDING_BIAS_WEIGHTS', shape: [1, 1], datatype: 'FP32', data: [1] }] }, ...coded(500), json: error(found) })),
];

export const GENERATES: readonly HttpCase[] = [
  ...onBoth<HttpCase>((d) => [
    { ...RUNS, name: 'generate gives one sorted object', path: GENERATE, body: { text_input: d.silence, max_tokens: 5, exclude_input_in_output: true }, status: 200, text: '{"model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":""}', type: 'application/json' },
    { ...RUNS, name: 'the id comes back in its sorted place', path: GENERATE, body: { id: 'q7', text_input: d.silence, max_tokens: 5, exclude_input_in_output: true }, status: 200, text: '{"id":"q7","model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":""}', until: { '2.48': { text: '{"model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":""}' } } },
    { ...RUNS, name: 'inputs may be inside parameters', path: GENERATE, body: { text_input: d.silence, parameters: { max_tokens: 5, exclude_input_in_output: true } }, status: 200, json: { text_output: '' } },
    { ...RUNS, name: 'an unknown key is a request parameter', path: GENERATE, body: { text_input: d.silence, max_tokens: 5, exclude_input_in_output: true, foo: 'bar' }, status: 200, json: { text_output: '' } },
    { ...RUNS, name: 'an array of one text is accepted', path: GENERATE, body: { text_input: [d.silence], max_tokens: [5], exclude_input_in_output: true }, status: 200, json: { text_output: '' } },
  ]),
  { name: 'a parameter that is an object', path: GENERATE, body: { text_input: 'x', max_tokens: 5, foo: {} }, status: 400, json: error("parameter 'foo' has invalid type. It should be either 'int', 'bool', or 'string'.") },
  ...onBoth<HttpCase>((d) => [
    { name: 'several responses where one is expected', path: GENERATE, body: { text_input: d.count, max_tokens: 4, stream: true }, status: 200, json: error(EXACTLY_ONE) },
  ]),
  { ...UNMISSED, name: 'no max_tokens, other inputs present', path: GENERATE, body: { text_input: 'x', stream: false }, status: 200, json: error(EXACTLY_ONE) },
  { name: 'text_input alone', path: GENERATE, body: { text_input: 'x' }, status: 400, json: error(/expected number of inputs between 2 and \d+ but got 1 inputs for model 'ensemble'/) },
  { name: 'a string for a number', path: GENERATE, body: { text_input: 'x', max_tokens: 'x' }, ...coded(500), json: error(/^Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer/) },
  { name: 'a fraction for a whole number', path: GENERATE, body: { text_input: 'x', max_tokens: 1.5 }, ...coded(500), json: error(/^Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer/) },
  { name: 'a number for a text', path: GENERATE, body: { text_input: 1, max_tokens: 1 }, ...coded(500), json: error(/^Unable to parse JSON bytes array: attempt to access JSON non-string as string/) },
  ...onBoth<HttpCase>((d) => [
    { name: 'a body of 8 MiB is read whole', path: '/v2/models/postprocessing/generate', body: JSON.stringify({ TOKENS_BATCH: [[[d.ids.a]]], SEQUENCE_LENGTH: [[1]], padding: 'x'.repeat(8 * 1024 * 1024) }), status: 200, json: { OUTPUT: 'a' } },
  ]),
  { name: 'an int32 that does not fit wraps', path: '/v2/models/preprocessing/generate', body: { QUERY: 'x', REQUEST_OUTPUT_LEN: 99999999999 }, status: 200, json: { REQUEST_OUTPUT_LEN: 1215752191 }, until: NOTHING_IN_AN_OUTPUT },
  ...onBoth<HttpCase>((d) => [
    { name: 'U+0000 in a text is a byte like others', path: '/v2/models/preprocessing/generate', body: '{"QUERY":"a\\u0000b","REQUEST_OUTPUT_LEN":1}', status: 200, json: { REQUEST_INPUT_LEN: 4, INPUT_ID: (ids: any[]) => ids.join() === d.nulIds.join() }, until: NOTHING_IN_AN_OUTPUT },
  ]),
  { name: 'bytes that are no UTF-8 reach the tensor as they are', path: '/v2/models/preprocessing/generate', body: latin1('{"QUERY":"a\xff","REQUEST_OUTPUT_LEN":1}'), status: 400, json: error(/UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte/) },
  { name: 'a lone low surrogate is the three bytes of its code point', path: '/v2/models/preprocessing/generate', body: '{"QUERY":"a\\udc80","REQUEST_OUTPUT_LEN":1}', status: 400, json: error(/UnicodeDecodeError: 'utf-8' codec can't decode byte 0xed in position 1: invalid continuation byte/) },
  { name: 'a stop word that is no UTF-8', path: '/v2/models/preprocessing/generate', body: latin1('{"QUERY":"a","REQUEST_OUTPUT_LEN":1,"STOP_WORDS_DICT":"a\xff"}'), status: 400, json: error(/UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte/) },
  { name: 'no value for a tensor of one', path: GENERATE, body: { text_input: 'x', max_tokens: [] }, status: 400, json: error(/input byte size mismatch for input 'max_tokens' for model 'ensemble'\. Expected 4, got 0$/), until: SHAPE_BEFORE },
  { name: 'three values for a tensor of one', path: GENERATE, body: { text_input: 'x', max_tokens: [1, 2, 3] }, status: 400, json: error(/batch size does not match other inputs for 'ensemble'$/), until: SHAPE_BEFORE },
  { name: 'broken JSON', path: GENERATE, body: '{"a":', ...coded(500), json: error(/^failed to parse the request JSON buffer: Invalid value\. at 5/) },
  { name: 'unknown model', path: '/v2/models/nope/generate', body: { text_input: 'x' }, ...coded(404), json: error("Request for unknown model: 'nope' is not found") },
  thrown(/^in ensemble 'ensemble', Failed to process the request\(s\) for model 'preprocessing_0_0'/, (found): HttpCase => ({ name: 'an error of a step', path: GENERATE, body: { text_input: 'x', max_tokens: 1, embedding_bias_words: ['a', 'b'], embedding_bias_weights: [1] }, status: 400, json: error(found) })),
];

export const STREAMS: readonly HttpCase[] = [
  ...onBoth<HttpCase>((d) => [
    { ...RUNS, name: 'one event per response, no [DONE]', path: STREAM, body: { text_input: d.count, max_tokens: 2, stream: true }, status: 200, type: 'text/event-stream; charset=utf-8', until: { '2.41': { type: 'application/json' } }, text: /^data: \{"model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":"[^"]*"\}\n\ndata: \{[^\n]*\}\n\n$/ },
    { ...RUNS, name: 'EOS at once is one event with an empty text', path: STREAM, body: { text_input: d.silence, max_tokens: 5, stream: true }, status: 200, text: 'data: {"model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":""}\n\n' },
  ]),
  { ...UNMISSED, name: 'no max_tokens, other inputs present: an empty body', path: STREAM, body: { text_input: 'x', stream: true }, status: 200, text: '' },
  { name: 'an error first sets the status', path: STREAM, body: { text_input: 'x', max_tokens: 1, embedding_bias_words: ['a', 'b'], embedding_bias_weights: [1] }, status: 400, text: /^data: \{"error":"in ensemble 'ensemble', Failed to process/ },
  { name: 'refused before inference is plain JSON', path: STREAM, body: { text_input: 'x' }, status: 400, type: 'application/json', json: error(/but got 1 inputs for model 'ensemble'/) },
];
