/** What a gRPC client sees of a Triton core: literals observed on running servers (docs/observed.md), by name. */
import { type Tensor, decodeBytesElements, int32Values } from '#wire/protocol/tensors.ts';
import { type Dialect, onBoth } from './dialects.ts';
import { COUNT, EMPTY_FINAL, bool, bytes, ensemble, int32, postprocessing, preprocessing, raw, streaming } from './requests.ts';
import { type Until, thrown } from './for-release.ts';
import { CHUNKED, RUNS, type TableRow, UNMISSED, WITH_MIN_TOKENS } from './table-claim.ts';
import { type Infer, inferMessage } from './wire.ts';

export interface RpcCase extends TableRow {
  readonly until?: Until<RpcCase>;
  readonly rpc: string;
  readonly request: unknown;
  readonly code: string;
  readonly details?: unknown;
  readonly body?: unknown;
}

/** A row that only this project's repository can answer so. */
const stock = <C extends TableRow>(row: C): C => ({ ...row, stock: true });

const ok = (name: string, rpc: string, request: unknown, body?: unknown): RpcCase => ({ name, rpc, request, code: 'OK', ...(body === undefined ? {} : { body }) });
const fails = (name: string, rpc: string, request: unknown, code: string, details: unknown): RpcCase => ({ name, rpc, request, code, details });
/** The row, and what releases before answered. */
const before = <C extends TableRow>(until: Until<C>, row: C): C => ({ ...row, until });
const infer = (name: string, request: Infer, code: string, details: unknown): RpcCase => fails(name, 'ModelInfer', inferMessage(request), code, details);

export const EXTENSIONS = [
  'classification', 'sequence', 'model_repository', 'model_repository(unload_dependents)', 'schedule_policy', 'model_configuration',
  'system_shared_memory', 'cuda_shared_memory', 'binary_tensor_data', 'parameters', 'statistics', 'trace', 'logging',
];

const FILE = { bytes_param: Uint8Array.of(35) };
const CONFIG = { string_param: '{"name":"preprocessing","backend":"python","max_batch_size":8}' };
const UNPOLLED = "failed to load 'preprocessing', failed to poll from model repository";

/** What shows a configuration of an ensemble over gRPC. */
const READABLE: Pick<RpcCase, 'holds'> = { holds: ({ core }) => core.ensembleConfigOverGrpc.value };

/** A load that is refused leaves the model as it was. */
function refusedLoads(rows: readonly (readonly [name: string, parameters: object, code: string, details: string, until?: Until<RpcCase>])[]): RpcCase[] {
  return rows.flatMap(([name, parameters, code, details, until]) => [
    { ...fails(`a load with ${name}`, 'RepositoryModelLoad', { model_name: 'preprocessing', parameters }, code, details), changes: true, ...(until === undefined ? {} : { until }) },
    { ...ok(`the model after a load with ${name}`, 'ModelReady', { name: 'preprocessing' }, { ready: true }), changes: true },
  ]);
}

export const SERVER_RPCS: readonly RpcCase[] = [
  ok('the server is live', 'ServerLive', {}, { live: true }),
  ok('the server is ready', 'ServerReady', {}, { ready: true }),
  ok('server metadata name and extensions', 'ServerMetadata', {}, { name: 'triton', extensions: EXTENSIONS }),
  ok('a loaded model is ready', 'ModelReady', { name: 'ensemble' }, { ready: true }),
  ok('a version that is loaded is ready', 'ModelReady', { name: 'ensemble', version: '1' }, { ready: true }),
  ok('an unknown model is not ready, without an error', 'ModelReady', { name: 'nope' }, { ready: false }),
  fails('a version that is no number', 'ModelReady', { name: 'ensemble', version: 'abc' }, 'INVALID_ARGUMENT', "failed to get model version from specified version string 'abc' (details: stol), version should be an integral value > 0"),
  fails('a negative version', 'ModelReady', { name: 'ensemble', version: '-3' }, 'INVALID_ARGUMENT', "invalid model version specified '-3' , version should be an integral value > 0"),
  ok('metadata of the ensemble', 'ModelMetadata', { name: 'ensemble' }, { name: 'ensemble', versions: ['1'], platform: 'ensemble' }),
  stock(ok('metadata of the raw model', 'ModelMetadata', { name: 'tensorrt_llm' }, { name: 'tensorrt_llm', platform: 'python', inputs: (v: any[]) => v.some((i) => i.name === 'input_ids' && i.datatype === 'INT32' && i.shape.join() === '-1,-1') })),
  fails('metadata of an unknown model', 'ModelMetadata', { name: 'nope' }, 'NOT_FOUND', "Request for unknown model: 'nope' is not found"),
  fails('metadata of an unknown version', 'ModelMetadata', { name: 'ensemble', version: '7' }, 'NOT_FOUND', "Request for unknown model: 'ensemble' version 7 is not found"),
  stock(ok('config as normalised', 'ModelConfig', { name: 'preprocessing' }, { config: { name: 'preprocessing', backend: 'python', max_batch_size: 8, version_policy: { latest: { num_versions: 1 } }, instance_group: [{ name: 'preprocessing_0', kind: 'KIND_CPU', count: 1 }] } })),
  { ...ok('config of the ensemble that an older front end cannot read', 'ModelConfig', { name: 'ensemble' }, { config: { name: '', platform: '', input: [], output: [], ensemble_scheduling: undefined } }), holds: ({ core }) => !core.ensembleConfigOverGrpc.value },
  { ...READABLE, ...ok('config of the ensemble has its steps', 'ModelConfig', { name: 'ensemble' }, { config: { platform: 'ensemble', instance_group: [], ensemble_scheduling: { step: (s: any[]) => s.map((x) => x.model_name).join() === 'preprocessing,tensorrt_llm,postprocessing' } } }) },
  ok('the raw model is decoupled', 'ModelConfig', { name: 'tensorrt_llm' }, { config: { model_transaction_policy: { decoupled: true } } }),
  fails('config of an unknown model', 'ModelConfig', { name: 'nope' }, 'NOT_FOUND', "Request for unknown model: 'nope' is not found"),
  ok('statistics of one model', 'ModelStatistics', { name: 'ensemble' }, { model_stats: [{ name: 'ensemble', version: '1' }] }),
  ok('statistics of all models', 'ModelStatistics', {}, { model_stats: (m: any[]) => m.length >= 4 }),
  ok('the index lists the stock models as ready', 'RepositoryIndex', {}, {
    models: (m: any[]) => ['ensemble', 'postprocessing', 'preprocessing', 'tensorrt_llm'].every((n) => m.some((x) => x.name === n && x.version === '1' && x.state === 'READY' && x.reason === '')),
  }),
  ok('no shared memory is registered', 'SystemSharedMemoryStatus', {}, { regions: {} }),
  ok('no CUDA shared memory is registered', 'CudaSharedMemoryStatus', {}, { regions: {} }),
  fails('status of an unknown region', 'SystemSharedMemoryStatus', { name: 'zz' }, 'NOT_FOUND', "Unable to find system shared memory region: 'zz'"),
  before({ '2.44': { body: { settings: (s: any) => Object.keys(s).toSorted().join() === 'log_frequency,trace_count,trace_file,trace_level,trace_rate' } } },
    ok('trace settings', 'TraceSetting', {}, { settings: { trace_level: { value: ['OFF'] }, trace_rate: { value: ['1000'] }, trace_count: { value: ['-1'] }, log_frequency: { value: ['0'] }, trace_mode: { value: ['triton'] } } })),
  ok('log settings', 'LogSettings', {}, { settings: (s: any) => ['log_file', 'log_info', 'log_warning', 'log_error', 'log_verbose_level', 'log_format'].every((k) => k in s) }),
  fails('config of an unknown version', 'ModelConfig', { name: 'ensemble', version: '7' }, 'NOT_FOUND', "Request for unknown model: 'ensemble' version 7 is not found"),
  fails('statistics of an unknown model', 'ModelStatistics', { name: 'nope' }, 'INVALID_ARGUMENT', "requested model 'nope' is not available"),
  fails('statistics of an unknown version', 'ModelStatistics', { name: 'ensemble', version: '7' }, 'INVALID_ARGUMENT', "requested model version is not available for model 'ensemble'"),
  fails('the index of one repository', 'RepositoryIndex', { repository_name: 'x' }, 'UNIMPLEMENTED', "'repository_name' specification is not supported"),
  before({ '2.49': { details: "Unable to find system shared memory region: 'zz'" } }, fails('status of an unknown CUDA region', 'CudaSharedMemoryStatus', { name: 'zz' }, 'NOT_FOUND', "Unable to find cuda shared memory region: 'zz'")),
  { ...fails('a CUDA region without a handle', 'CudaSharedMemoryRegister', { name: 'zz', raw_handle: Uint8Array.of(1), device_id: '0', byte_size: '4' }, 'INVALID_ARGUMENT', 'failed to register shared memory region: invalid args'), changes: true, until: { '2.45': { details: /^failed to register CUDA shared memory region 'zz': failed to open CUDA IPC handle: / } } },
  { ...fails('traces without a file', 'TraceSetting', { settings: { trace_level: { value: ['TIMESTAMPS'] } } }, 'INVALID_ARGUMENT', /^Attempting to set invalid trace setting :trace file name is not given/), changes: true },
  ...refusedLoads([
    ['files without a configuration', { [`file:1/model.py`]: FILE }, 'INTERNAL', UNPOLLED],
    ['a file beside the folder of the model', { config: CONFIG, 'file:../x': FILE }, 'INTERNAL', UNPOLLED, { '2.39': { code: 'INVALID_ARGUMENT', details: "load failed for model 'preprocessing': at least one version must be available under the version policy of model 'preprocessing'\n" } }],
    ['a file beside it, by way of a version', { config: CONFIG, 'file:1/../../x': FILE }, 'INTERNAL', UNPOLLED],
    ['a file without a name', { config: CONFIG, 'file:': FILE }, 'INTERNAL', UNPOLLED],
    ['files of no version', { config: CONFIG, 'file:/tmp/x': FILE }, 'INVALID_ARGUMENT', "load failed for model 'preprocessing': at least one version must be available under the version policy of model 'preprocessing'\n"],
    ['a parameter of another name', { config: CONFIG, foo: FILE }, 'INVALID_ARGUMENT', "unrecognized load parameter 'foo'."],
  ]),
  { ...fails('the log file cannot be moved', 'LogSettings', { settings: { log_file: { string_param: 'x' } } }, 'UNIMPLEMENTED', 'log file location can not be updated through network protocol'), changes: true, until: { '2.44': 'the log would go to a file of that name' } },
];

/** The tensor has the shape that was named, and what lies behind its bytes. */
const UNCHECKED: Partial<RpcCase> = { code: 'OK', details: undefined };
/** docs/observed.md#triton-by-release */
const KILLS_STUB = 'the Python process of the model ends of it, and nothing answers any more';
const wrongType: Tensor = { name: 'REQUEST_OUTPUT_LEN', datatype: 'INT64', shape: [1, 1], data: new Uint8Array(8) };
const query = bytes('QUERY', [1, 1], ['hello']);
const length = int32('REQUEST_OUTPUT_LEN', [1, 1], [7]);
const PRE = 'preprocessing';
const POST = 'postprocessing';
const ids = int32('TOKENS_BATCH', [1, 1, 1], [70]);
const lengths = int32('SEQUENCE_LENGTH', [1, 1], [1]);

/** A request to preprocessing whose data stand in typed fields, in raw ones, or in both. */
const typed = (first: object | null, second: object | null, raws: readonly Uint8Array[] = []) => ({
  model_name: PRE,
  inputs: [
    { name: 'QUERY', datatype: 'BYTES', shape: [1, 1], contents: first },
    { name: 'REQUEST_OUTPUT_LEN', datatype: 'INT32', shape: [1, 1], contents: second },
  ],
  raw_input_contents: raws,
});

/** The Rust tokenizers' own words change with their release: 0.20 and 0.23 were seen to differ on an id below 0. */
export const INFER_ERRORS: readonly RpcCase[] = [
  infer('unary call of a decoupled model', raw([1, 2], 1), 'UNIMPLEMENTED', "ModelInfer RPC doesn't support models with decoupled transaction policy"),
  infer('unary call of an ensemble with a decoupled step', ensemble('x', 1), 'UNIMPLEMENTED', "ModelInfer RPC doesn't support models with decoupled transaction policy"),
  stock(infer('unary call of a BLS', { ...ensemble('x', 1), model: 'tensorrt_llm_bls' }, 'UNIMPLEMENTED', "ModelInfer RPC doesn't support models with decoupled transaction policy")),
  infer('unknown model', { model: 'nope', inputs: [query] }, 'NOT_FOUND', "Request for unknown model: 'nope' is not found"),
  infer('unknown version', { model: PRE, version: '7', inputs: [query, length] }, 'NOT_FOUND', "Request for unknown model: 'preprocessing' version 7 is not found"),
  infer('version that is no number', { model: PRE, version: 'abc', inputs: [query, length] }, 'INVALID_ARGUMENT', "failed to get model version from specified version string 'abc' (details: stol), version should be an integral value > 0"),
  infer('unknown input', { model: PRE, inputs: [query, length, int32('ZZ', [1, 1], [1])] }, 'INVALID_ARGUMENT', "unexpected inference input 'ZZ' for model 'preprocessing'"),
  infer('unknown output', { model: PRE, inputs: [query, length], outputs: ['QQ'] }, 'INVALID_ARGUMENT', "unexpected inference output 'QQ' for model 'preprocessing'"),
  infer('the same input twice', { model: PRE, inputs: [query, query, length] }, 'INVALID_ARGUMENT', /input 'QUERY' already exists in request$/),
  before({ '2.43': { details: /^\[request id: <id_unknown>\] expected number of inputs between 2 and \d+ but got 1 inputs for model 'preprocessing'$/ } }, infer('a required input missing', { model: PRE, inputs: [query] }, 'INVALID_ARGUMENT', /^\[request id: <id_unknown>\] expected number of inputs between 2 and \d+ but got 1 inputs for model 'preprocessing'\. Got input\(s\) \['QUERY'\], but missing required input\(s\) \['REQUEST_OUTPUT_LEN'\]\. Please provide all required input\(s\)\.$/)),
  before({ '2.36': { details: "[request id: <id_unknown>] inference input data-type is 'INT64', model expects 'INT32' for 'preprocessing'" } }, infer('wrong dtype', { model: PRE, inputs: [query, wrongType] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] inference input 'REQUEST_OUTPUT_LEN' data-type is 'INT64', but model 'preprocessing' expects 'INT32'")),
  infer('wrong shape', { model: PRE, inputs: [bytes('QUERY', [1, 2], ['a', 'b']), length] }, 'INVALID_ARGUMENT', /^\[request id: <id_unknown>\] unexpected shape for input 'QUERY' for model 'preprocessing'\. Expected \[-1,1\], got \[1,2\]\. NOTE: Setting a non-zero max_batch_size/),
  infer('a shape without the batch dimension', { model: PRE, inputs: [bytes('QUERY', [1], ['a']), length] }, 'INVALID_ARGUMENT', /^\[request id: <id_unknown>\] unexpected shape for input 'QUERY' for model 'preprocessing'\. Expected \[-1,1\], got \[1\]\. NOTE: Setting a non-zero max_batch_size/),
  before({ '2.36': { details: "[request id: <id_unknown>] inference input data-type is '<invalid>', model expects 'INT32' for 'preprocessing'" } }, infer('a dtype that there is not', { model: PRE, inputs: [query, { ...length, datatype: 'NOPE' as Tensor['datatype'] }] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] inference input 'REQUEST_OUTPUT_LEN' data-type is '<invalid>', but model 'preprocessing' expects 'INT32'")),
  infer('the request id is in the text', { model: PRE, id: 'mine', inputs: [bytes('QUERY', [1, 2], ['a', 'b']), length] }, 'INVALID_ARGUMENT', /^\[request id: mine\] unexpected shape/),
  infer('batch sizes that differ', { model: PRE, inputs: [bytes('QUERY', [2, 1], ['a', 'b']), length] }, 'INVALID_ARGUMENT', /input '\w+' batch size does not match other inputs for 'preprocessing'$/),
  stock(infer('a batch too large', preprocessing(Array.from({ length: 9 }, () => 'x'), Array.from({ length: 9 }, () => 1)), 'INVALID_ARGUMENT', /inference request batch-size must be <= 8 for 'preprocessing'$/)),
  before({ '2.46': { code: 'INTERNAL', details: "Failed to process the request(s) for model instance 'preprocessing_0_0', message: ValueError: cannot reshape array of size 0 into shape (1,)" }, '2.36': { details: "Failed to process the request(s) for model instance 'preprocessing_0', message: ValueError: cannot reshape array of size 0 into shape (1,)" } }, infer('a batch of none', { model: PRE, inputs: [bytes('QUERY', [0, 1], []), int32('REQUEST_OUTPUT_LEN', [0, 1], [])] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] input byte size mismatch for input 'REQUEST_OUTPUT_LEN' for model 'preprocessing'. Expected 4, got 0")),
  infer('a batch of none beside one of one', { model: PRE, inputs: [bytes('QUERY', [0, 1], []), length] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] input 'QUERY' batch size does not match other inputs for 'preprocessing'"),
  before({ '2.43': { details: "[request id: <id_unknown>] expected 2 inputs but got 1 inputs for model 'postprocessing'" } }, stock(infer('one input of a model that has no optional ones', { model: POST, inputs: [ids] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] expected 2 inputs but got 1 inputs for model 'postprocessing'. Got input(s) ['TOKENS_BATCH'], but missing required input(s) ['SEQUENCE_LENGTH']. Please provide all required input(s)."))),
  before({ '2.43': { details: "[request id: <id_unknown>] expected 2 inputs but got 0 inputs for model 'postprocessing'" } }, stock(infer('no input of a model that has no optional ones', { model: POST, inputs: [] }, 'INVALID_ARGUMENT', "[request id: <id_unknown>] expected 2 inputs but got 0 inputs for model 'postprocessing'. Got input(s) [], but missing required input(s) ['TOKENS_BATCH','SEQUENCE_LENGTH']. Please provide all required input(s)."))),
  before({ '2.43': { details: "[request id: <id_unknown>] expected 2 inputs but got 9 inputs for model 'postprocessing'" } }, stock(infer('nine inputs for a model of two', { model: POST, inputs: Array.from({ length: 9 }, (_, i) => int32(`Z${i}`, [1, 1], [1])) }, 'INVALID_ARGUMENT', /^\[request id: <id_unknown>\] expected 2 inputs but got 9 inputs for model 'postprocessing'\. Got input\(s\) \[('Z\d',?){9}\], but missing required input\(s\) \['TOKENS_BATCH','SEQUENCE_LENGTH'\]\. Please provide all required input\(s\)\.$/))),
  before({ '2.43': { details: "[request id: <id_unknown>] expected 2 inputs but got 3 inputs for model 'postprocessing'" } }, stock(infer('three inputs for a model of two, none missing', { model: POST, inputs: [ids, lengths, int32('Z', [1, 1], [1])] }, 'INVALID_ARGUMENT', /expected 2 inputs but got 3 inputs for model 'postprocessing'\. Got input\(s\) \[('\w+',?){3}\], but missing required input\(s\) \]\. Please provide all required input\(s\)\.$/))),
  { ...UNMISSED, ...stock(infer('two inputs, one of them another', { model: POST, inputs: [ids, int32('Z', [1, 1], [1])] }, 'INVALID_ARGUMENT', "unexpected inference input 'Z' for model 'postprocessing'")) },
  before({ '2.46': UNCHECKED }, infer('too few bytes', { model: PRE, inputs: [query, { ...length, data: new Uint8Array(3) }] }, 'INVALID_ARGUMENT', /input byte size mismatch for input 'REQUEST_OUTPUT_LEN' for model 'preprocessing'\. Expected 4, got 3$/)),
  before({ '2.46': UNCHECKED }, infer('too many bytes', { model: PRE, inputs: [query, { ...length, data: new Uint8Array(8) }] }, 'INVALID_ARGUMENT', /input byte size mismatch for input 'REQUEST_OUTPUT_LEN' for model 'preprocessing'\. Expected 4, got 8$/)),
  before({ '2.48': KILLS_STUB, '2.46': { code: 'INTERNAL', details: /^Failed to process the request\(s\) for model instance 'preprocessing_0_0', message: error: unpack_from requires a buffer of at least 14 bytes for unpacking 10 bytes at offset 4 \(actual buffer size is 7\)\n\nAt:\n.*deserialize_bytes_tensor\n$/ }, '2.36': { details: /^Failed to process the request\(s\) for model instance 'preprocessing_0', message: error: unpack_from requires a buffer/ } }, infer('a BYTES element that runs past the end', { model: PRE, inputs: [{ ...query, data: Uint8Array.of(10, 0, 0, 0, 97, 98, 99) }, length] }, 'INVALID_ARGUMENT', /incomplete string data for inference input 'QUERY', expecting string of length 10 but only 3 bytes available/)),
  before({ '2.49': { details: /expected 2 string elements for inference input 'QUERY', got 1$/ }, '2.46': { code: 'INTERNAL', details: "Failed to process the request(s) for model instance 'preprocessing_0_0', message: ValueError: cannot reshape array of size 1 into shape (2,1)" }, '2.36': { details: "Failed to process the request(s) for model instance 'preprocessing_0', message: ValueError: cannot reshape array of size 1 into shape (2,1)" } }, infer('too few BYTES elements', { model: PRE, inputs: [{ ...query, shape: [2, 1] }, int32('REQUEST_OUTPUT_LEN', [2, 1], [1, 1])] }, 'INVALID_ARGUMENT', /expected 2 string elements for inference input 'QUERY' for model 'preprocessing', got 1$/)),
  infer('no data at all', { model: PRE, inputs: [query, length], noData: true }, 'INVALID_ARGUMENT', "unable to find data for input tensor 'QUERY' for model 'preprocessing' in request."),
  before({ '2.39': { details: '' /* it ends in a space, and Node drops such a header */ } }, infer('a reserved parameter', { model: PRE, inputs: [query, length], parameters: { triton_x: { int64_param: '1' } } }, 'INVALID_ARGUMENT', "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with 'triton_' are allowed: triton_enable_empty_final_response")),
  fails('data in the field of another type', 'ModelInfer', typed({ bytes_contents: [Buffer.from('a')] }, { int64_contents: [3] }), 'INVALID_ARGUMENT', "unexpected explicit tensor data for input tensor 'REQUEST_OUTPUT_LEN' for model 'preprocessing' of type 'INT64', expected datatype 'INT32'"),
  fails('data in two places', 'ModelInfer', typed({ bytes_contents: [Buffer.from('a')] }, null, [Buffer.alloc(4)]), 'INVALID_ARGUMENT', "contents field must not be specified when using raw_input_contents for 'QUERY' for model 'preprocessing'"),
  { ...ok('data in the fields of their types', 'ModelInfer', typed({ bytes_contents: [Buffer.from('a')] }, { int_contents: [3] })), body: { model_name: PRE } },
  { ...ok('a raw entry too many', 'ModelInfer', typed(null, null, [query.data, length.data, Buffer.alloc(9)])), body: { model_name: PRE } },
  infer('a sequence id that is a truth', { model: PRE, inputs: [query, length], parameters: { sequence_id: { bool_param: true } } }, 'INVALID_ARGUMENT', "invalid value type for 'sequence_id' parameter, expected int64_param or string_param."),
  thrown(/^Failed to process the request\(s\) for model 'preprocessing_0_0', message: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte/, (text) => infer('a stop word that is not UTF-8', preprocessing(['x'], [1], [bytes('STOP_WORDS_DICT', [1, 1], [Uint8Array.of(97, 0xff)])]), 'INTERNAL', text)),
  thrown(/^Failed to process the request\(s\) for model 'preprocessing_0_0', message: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 3: invalid start byte\n\nAt:\n/, (text) => infer('text that is not UTF-8', { model: PRE, inputs: [bytes('QUERY', [1, 1], [Uint8Array.of(97, 98, 99, 0xff)]), length] }, 'INTERNAL', text)),
  thrown(/^Failed to process the request\(s\) for model 'postprocessing_0_0', message: OverflowError: (out of range integral type conversion attempted|number too small to fit in target type)/, (text) => stock(infer('-1 inside the length of an answer', postprocessing([1, 1, 2], [304, -1], [[2]]), 'INTERNAL', text))),
  infer('fewer lengths than beams', postprocessing([1, 2, 1], [70, 71], [[1]]), 'INTERNAL', /message: IndexError: index 1 is out of bounds for axis 0 with size 1/),
  thrown(/^Failed to process the request\(s\) for model 'preprocessing_0_0', message: AssertionError: Embedding bias words must have same dimension as embedding bias weights\n\nAt:\n/, (text) => infer('bias words without as many weights', preprocessing(['x'], [1], [bytes('EMBEDDING_BIAS_WORDS', [1, 2], ['a', 'b']), { name: 'EMBEDDING_BIAS_WEIGHTS', datatype: 'FP32', shape: [1, 1], data: new Uint8Array(4) }]), 'INTERNAL', text)),
];

/** One tensor of a unary answer, as numbers. */
export interface TensorCase extends TableRow {
  readonly until?: Until<TensorCase>;
  readonly request: Infer;
  /** name → [datatype, shape, values]; values are compared as INT32 unless the datatype says BYTES or FP32. */
  readonly outputs: Readonly<Record<string, readonly [string, readonly number[], readonly (number | string)[] | undefined]>>;
}

export const PREPROCESSING: readonly TensorCase[] = [
  {
    tiny: true,
    name: 'every output has its dtype and shape',
    request: preprocessing(['hi'], [7]),
    outputs: {
      REQUEST_INPUT_LEN: ['INT32', [1, 1], undefined], DECODER_INPUT_ID: ['INT32', [1, 1], [2]], REQUEST_DECODER_INPUT_LEN: ['INT32', [1, 1], [1]],
      BAD_WORDS_IDS: ['INT32', [1, 2, 0], []], STOP_WORDS_IDS: ['INT32', [1, 2, 0], []], EMBEDDING_BIAS: ['FP32', [1, 0], undefined],
      REQUEST_OUTPUT_LEN: ['INT32', [1, 1], [7]], OUT_END_ID: ['INT32', [1, 1], [1]], OUT_PAD_ID: ['INT32', [1, 1], [2]],
    },
  },
  { tiny: true, name: 'an empty prompt is BOS alone', request: preprocessing([''], [7]), outputs: { INPUT_ID: ['INT32', [1, 1], [0]], REQUEST_INPUT_LEN: ['INT32', [1, 1], [1]] } },
  { tiny: true, name: 'BOS written in the prompt is doubled, EOS becomes the control token', request: preprocessing(['<|bos|><|eos|>'], [7]), outputs: { INPUT_ID: ['INT32', [1, 3], [0, 0, 1]] } },
  { name: 'the output length is passed unchecked', request: preprocessing(['x'], [-5]), outputs: { REQUEST_OUTPUT_LEN: ['INT32', [1, 1], [-5]] } },
  { name: "a client's end and pad ids win", request: preprocessing(['x'], [1], [int32('END_ID', [1, 1], [9]), int32('PAD_ID', [1, 1], [8])]), outputs: { OUT_END_ID: ['INT32', [1, 1], [9]], OUT_PAD_ID: ['INT32', [1, 1], [8]], DECODER_INPUT_ID: ['INT32', [1, 1], [8]] } },
  { name: 'an empty stop word gives the layout [B,2,1]', request: preprocessing(['x'], [1], [bytes('STOP_WORDS_DICT', [1, 1], [''])]), outputs: { STOP_WORDS_IDS: ['INT32', [1, 2, 1], [0, -1]] } },
  { tiny: true, name: 'special text as a stop word is its id', request: preprocessing(['x'], [1], [bytes('STOP_WORDS_DICT', [1, 2], ['<|eos|>', ''])]), outputs: { STOP_WORDS_IDS: ['INT32', [1, 2, 1], [1, 1]] } },
  { tiny: true, name: 'a batch is padded with the pad id', request: preprocessing(['<|user|><|user|>', ''], [1, 1]), outputs: { INPUT_ID: ['INT32', [2, 3], [0, 4, 4, 0, 2, 2]], REQUEST_INPUT_LEN: ['INT32', [2, 1], [3, 1]] } },
];

const texts = (...values: readonly string[]): TensorCase['outputs'] => ({ OUTPUT: ['BYTES', [values.length], values] });

/** OUTPUT has no batch dimension. */
export const POSTPROCESSING: readonly TensorCase[] = [
  { name: 'no ids are an empty text', request: postprocessing([1, 1, 0], [], [[0]]), outputs: texts('') },
  ...onBoth<TensorCase>(({ ids: { bos, eos, a, b, c } }) => [
    { name: 'EOS alone is an empty text', request: postprocessing([1, 1, 1], [eos], [[1]]), outputs: texts('') },
    { name: 'control tokens are skipped inside a text', request: postprocessing([1, 1, 4], [bos, a, eos, b], [[4]]), outputs: texts('ab') },
    { name: 'a shorter length cuts', request: postprocessing([1, 1, 3], [a, b, c], [[2]]), outputs: texts('ab') },
    { name: 'length 0 is an empty text', request: postprocessing([1, 1, 3], [a, b, c], [[0]]), outputs: texts('') },
    { name: 'a longer length is the whole row', request: postprocessing([1, 1, 3], [a, b, c], [[9]]), outputs: texts('abc') },
    { name: 'length -1 counts from the end and loses the last id', request: postprocessing([1, 1, 3], [a, b, c], [[-1]]), outputs: texts('ab') },
    { name: 'one text per beam', request: postprocessing([1, 3, 2], [a, a, b, b, c, c], [[2, 2, 2]]), outputs: texts('aa', 'bb', 'cc') },
    { name: 'prompts by beams, row by row', request: postprocessing([2, 2, 1], [a, b, c, a], [[1, 1], [1, 1]]), outputs: texts('a', 'b', 'c', 'a') },
    { name: 'beams padded with -1 behind their length', request: postprocessing([1, 2, 2], [a, -1, b, c], [[1, 2]]), outputs: texts('a', 'bc') },
    { name: 'an id past the vocabulary is dropped', request: postprocessing([1, 1, 3], [a, 99999, b], [[3]]), outputs: texts('ab') },
  ]),
];

/** What the messages of one stream must be, in order per request id. */
export interface StreamCase extends TableRow {
  readonly until?: Until<StreamCase>;
  readonly requests: readonly Infer[];
  readonly messages: unknown;
  readonly code?: string;
}

const outs = (names: readonly string[]) => (o: { name: string }[]) => names.every((n) => o.some((x) => x.name === n));
const tokens = (m: any) => {
  const i = m.outputs.findIndex((o: any) => o.name === 'output_ids');
  return i < 0 ? undefined : m.outputs[i].shape.join() + ':' + int32Values(m.raw[i]).length;
};
const textsOf = (ms: any[]): string[] => ms.flatMap((m) => m.outputs.flatMap((o: any, i: number) => (o.name === 'text_output' ? decodeBytesElements(m.raw[i]).map((b) => Buffer.from(b).toString()) : [])));
const everyFinal = (pattern: readonly (boolean | undefined)[]) => (ms: any[]) => ms.length === pattern.length && ms.every((m, i) => m.final === pattern[i]);
const rawStreaming = ({ promptIds, ids: { eos, pad } }: Dialect, n: number, more: readonly Tensor[] = [], rest: Partial<Infer> = {}) =>
  raw(promptIds, n, [bool('streaming', [1, 1], [true]), int32('end_id', [1, 1], [eos]), int32('pad_id', [1, 1], [pad]), ...more], rest);

export const STREAMS: readonly StreamCase[] = [
  ...onBoth<StreamCase>((d) => [
    { ...RUNS, name: 'max_tokens ends the ensemble on its last text, without an empty message', requests: [ensemble(d.count, 3, [streaming])], messages: everyFinal([false, false, true]) },
    { holds: (p) => CHUNKED.holds!(p) && RUNS.holds!(p), name: 'every token is decoded alone, and a list loses the space at its front where the tokenizer does so', requests: [ensemble(d.count, d.pieces.length, [streaming])], messages: (ms: any[]) => textsOf(ms).join('|') === d.pieces.join('|') },
    { ...RUNS, name: 'not streamed: control tokens are skipped, and the space between prompt and answer stays', requests: [ensemble(d.count, 60)], messages: (ms: any[]) => textsOf(ms).join('|') === d.countShown + d.between + d.counted },
    { ...RUNS, name: 'the same with the empty-final parameter', requests: [ensemble(d.count, 3, [streaming], { parameters: EMPTY_FINAL })], messages: everyFinal([false, false, true]) },
    { ...RUNS, name: 'EOS at once gives the ensemble one empty text, final', requests: [ensemble(d.silence, 9, [streaming], { parameters: EMPTY_FINAL })], messages: [{ final: true, error: '', outputs: outs(['text_output']), model: 'ensemble', version: '1' }] },
    { ...WITH_MIN_TOKENS, name: 'raw gives one id per message, the last one final', requests: [rawStreaming(d, 2, [int32('min_tokens', [1, 1], [2])], { parameters: EMPTY_FINAL })], messages: (ms: any[]) => ms.length === 2 && ms.every((m) => tokens(m) === '1,1,1:1') && ms[0].final === false && ms[1].final === true },
    { name: 'raw ends by EOS with an extra empty message', requests: [rawStreaming(d, 60, [], { parameters: EMPTY_FINAL })], messages: (ms: any[]) => ms.length > 1 && tokens(ms.at(-1)) === '1,1,0:0' && ms.at(-1).final === true && ms.slice(0, -1).every((m) => m.final === false && tokens(m) === '1,1,1:1') },
    { ...RUNS, name: 'ensemble responses carry the sequence parameters', requests: [ensemble(d.count, 1, [streaming])], messages: [{ parameters: { sequence_id: '0', sequence_start: false, sequence_end: false, triton_final_response: true } }] },
    { ...RUNS, name: 'a request id comes back in every message', requests: [ensemble(d.count, 2, [streaming], { id: 'q7' })], messages: [{ id: 'q7' }, { id: 'q7' }] },
    { ...RUNS, name: 'an unknown model is an error inside the stream, which goes on', requests: [{ model: 'nope', id: 'bad', inputs: [] }, ensemble(d.count, 1, [streaming], { id: 'good' })],
      messages: (ms: any[]) => ms.length === 2 && ms.some((m) => m.id === 'bad' && m.error === "Request for unknown model: 'nope' is not found" && m.model === '' && m.final === undefined) && ms.some((m) => m.id === 'good' && m.final === true) },
  ]),
  { name: 'an unknown input is an error inside the stream', requests: [ensemble(COUNT, 1, [bool('stop', [1, 1], [true])])], messages: [{ error: "unexpected inference input 'stop' for model 'ensemble'", final: undefined }] },
  { name: 'a model that is not decoupled gives one message, final', requests: [preprocessing(['x'], [1])], messages: [{ final: true, error: '', model: 'preprocessing' }] },
  { ...UNMISSED, name: 'an ensemble without max_tokens but with enough inputs gives one flag and nothing else', requests: [{ model: 'ensemble', inputs: [bytes('text_input', [1, 1], ['x']), streaming], parameters: EMPTY_FINAL }], messages: [{ final: true, error: '', outputs: [] }] },
  { ...UNMISSED, name: 'the same without the empty-final parameter gives nothing at all', requests: [{ model: 'ensemble', inputs: [bytes('text_input', [1, 1], ['x']), streaming] }], messages: [] },
  { name: 'text_input alone is refused by count', requests: [{ model: 'ensemble', inputs: [bytes('text_input', [1, 1], ['x'])] }], until: { '2.43': { messages: [{ error: /expected number of inputs between 2 and \d+ but got 1 inputs for model 'ensemble'$/ }] } }, messages: [{ error: /expected number of inputs between 2 and \d+ but got 1 inputs for model 'ensemble'\. Got input\(s\) \['text_input'\], but missing required input\(s\) \['max_tokens'\]\. Please provide all required input\(s\)\.$/ }] },
  thrown(/^in ensemble 'ensemble', Failed to process the request\(s\) for model 'preprocessing_0_0', message: AssertionError/, (text): StreamCase => ({ name: 'an error of a step is named after the ensemble', requests: [ensemble('x', 1, [bytes('embedding_bias_words', [1, 2], ['a', 'b']), { name: 'embedding_bias_weights', datatype: 'FP32', shape: [1, 1], data: new Uint8Array(4) }])], messages: [{ error: text, final: true }] })),
  { name: 'an unknown output of the ensemble is an error without a flag', requests: [ensemble(COUNT, 1, [streaming], { outputs: ['foo'] })], messages: [{ error: "unexpected inference output 'foo' for model 'ensemble'", final: undefined }] },
  ...onBoth<StreamCase>((d) => [
    { ...RUNS, name: 'an output that was asked for without its switch is simply absent', until: { '2.50': 'the ensemble that such a core can serve has no other output' }, requests: [ensemble(d.count, 1, [streaming], { outputs: ['text_output', 'cum_log_probs'] })], messages: [{ error: '', outputs: (o: any[]) => o.map((x) => x.name).join() === 'text_output' }] },
    { ...RUNS, name: 'max_tokens 0 goes to the engine, which refuses it', requests: [rawStreaming(d, 0), ensemble(d.count, 0, [streaming], { id: 'e' })], messages: (ms: any[]) => ms.length === 2 && ms.some((m) => m.error.includes('request_output_len') && m.id === '') && ms.some((m) => m.id === 'e' && m.error.startsWith("in ensemble 'ensemble', ")) },
    { name: 'max_tokens below 0 the same', requests: [rawStreaming(d, -1)], messages: [{ error: /request_output_len/, final: true }] },
  ]),
  { name: 'stop for an unknown id is one flag-only final', requests: [raw([1], 0, [bool('stop', [1, 1], [true])], { id: 'nobody', parameters: EMPTY_FINAL })], messages: [{ final: true, error: '', outputs: [] }] },
  ...onBoth<StreamCase>((d) => [
    { ...WITH_MIN_TOKENS, name: 'not streamed, one message with prompt and answer', requests: [raw(d.promptIds, 2, [int32('end_id', [1, 1], [d.ids.eos]), int32('min_tokens', [1, 1], [2])])], messages: (ms: any[]) => ms.length === 1 && tokens(ms[0]) === `1,1,${d.promptIds.length + 2}:${d.promptIds.length + 2}` && ms[0].final === true },
    { ...WITH_MIN_TOKENS, name: 'not streamed and without the prompt, one message with the answer', requests: [raw(d.promptIds, 2, [int32('min_tokens', [1, 1], [2]), bool('exclude_input_in_output', [1, 1], [true])])], messages: (ms: any[]) => ms.length === 1 && tokens(ms[0]) === '1,1,2:2' },
    { name: 'log-probabilities come when asked for', requests: [rawStreaming(d, 1, [bool('return_log_probs', [1, 1], [true])])], messages: [{ outputs: (o: any[]) => o.some((x) => x.name === 'output_log_probs' && x.datatype === 'FP32' && x.shape.join() === '1,1,1') && o.some((x) => x.name === 'cum_log_probs' && x.shape.join() === '1,1') }] },
    { name: 'log-probabilities do not come unasked', requests: [rawStreaming(d, 1)], messages: [{ outputs: (o: any[]) => !o.some((x) => x.name.includes('log_probs')) }] },
  ]),
];
