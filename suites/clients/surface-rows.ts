/** What the clients read of a server, what they set, and how they report a refusal: one table for each of them. */
import type { Lab } from '#checks/lab/lab.ts';
import { bytesTensor, int32Tensor } from '#wire/protocol/tensors.ts';
import { matches } from '../protocol/expectations.ts';
import type { Step } from './driver.ts';
import { tensorLine } from './transcripts.ts';

/** One exchange of a table: the literals are those of a real server (docs/observed.md), in the client's own words. */
export interface Row {
  readonly name: string;
  readonly step: Step;
  /** What the client gave, or the exception that it raised. */
  readonly result?: unknown;
  readonly raises?: {
    readonly exception: string;
    readonly code: string | null;
    readonly message?: string | RegExp;
    readonly detail?: RegExp;
  };
}

const call = (name: string, method: string, args: Readonly<Record<string, unknown>>, result: unknown): Row => ({
  name,
  step: { operation: 'call', method, arguments: args },
  result,
});

export const QUERY = 'Emoji for cat?';
const query = tensorLine(bytesTensor('QUERY', [1, 1], [QUERY]));
const wrongQuery = tensorLine(int32Tensor('QUERY', [1, 1], [1]));
const length = tensorLine(int32Tensor('REQUEST_OUTPUT_LEN', [1, 1], [4]));
/** gRPC rounds a deadline up to a millisecond, in which a short text is answered at times; this one is not even sent in it. */
const longQuery = tensorLine(bytesTensor('QUERY', [1, 1], ['a cat. '.repeat(150_000)]));
const asked = (model: string, inputs: readonly unknown[]) => ({ model, id: 'one', inputs });

/** A text for preprocessing to make ids of, and the same with too little said. */
export const TO_IDS = asked('preprocessing', [query, length]);
export const TO_IDS_UNFINISHED = asked('preprocessing', [query]);

const has = (name: string) =>
  function hasExtension(extensions: readonly string[]) {
    return extensions.includes(name);
  };
const named = (name: string, part: unknown) =>
  function isNamed(all: readonly { readonly name: string }[]) {
    return matches(
      all.find((one) => one.name === name),
      part,
    );
  };

const UNKNOWN = "Request for unknown model: 'nope' is not found";
const MISSING =
  "expected number of inputs between 2 and 10 but got 1 inputs for model 'preprocessing'. Got input(s) ['QUERY'], but missing required input(s) ['REQUEST_OUTPUT_LEN']. Please provide all required input(s).";
const WRONG_TYPE = "inference input 'QUERY' data-type is 'INT32', but model 'preprocessing' expects 'BYTES'";
const STOCK = ['ensemble', 'postprocessing', 'preprocessing', 'tensorrt_llm'];

/** Other models may stand beside the stock ones. */
function stockModelsReady(models: readonly { readonly name: string }[]): boolean {
  return STOCK.every((name) => named(name, { version: '1', state: 'READY' })(models));
}

/** The calls that tritonclient.grpc and its aio half share. */
export function grpcRows(): Row[] {
  const json = { as_json: true };
  return [
    call('live', 'is_server_live', {}, true),
    call('ready', 'is_server_ready', {}, true),
    call('a model is ready', 'is_model_ready', { model_name: 'ensemble' }, true),
    call('an unknown model is not ready', 'is_model_ready', { model_name: 'nope' }, false),
    call('server metadata', 'get_server_metadata', json, { name: 'triton', extensions: has('statistics') }),
    call(
      'model metadata',
      'get_model_metadata',
      { model_name: 'ensemble', ...json },
      {
        name: 'ensemble',
        versions: ['1'],
        platform: 'ensemble',
        inputs: named('text_input', { datatype: 'BYTES', shape: ['-1', '1'] }),
        outputs: named('text_output', { datatype: 'BYTES', shape: ['-1', '-1'] }),
      },
    ),
    call(
      'model configuration',
      'get_model_config',
      { model_name: 'tensorrt_llm', ...json },
      { config: { name: 'tensorrt_llm', max_batch_size: 8, model_transaction_policy: { decoupled: true } } },
    ),
    call('repository index', 'get_model_repository_index', json, { models: stockModelsReady }),
    call('trace settings', 'get_trace_settings', json, { settings: { trace_level: { value: ['OFF'] }, trace_rate: { value: ['1000'] } } }),
    call(
      'trace rate set',
      'update_trace_settings',
      { settings: { trace_rate: '7' }, ...json },
      { settings: { trace_rate: { value: ['7'] } } },
    ),
    call(
      'trace rate set back',
      'update_trace_settings',
      { settings: { trace_rate: null }, ...json },
      { settings: { trace_rate: { value: ['1000'] } } },
    ),
    call('log settings', 'get_log_settings', json, {
      settings: { log_verbose_level: { uint32_param: 0 }, log_info: { bool_param: true } },
    }),
    call(
      'verbose log set',
      'update_log_settings',
      { settings: { log_verbose_level: 1 }, ...json },
      { settings: { log_verbose_level: { uint32_param: 1 } } },
    ),
    call(
      'verbose log set back',
      'update_log_settings',
      { settings: { log_verbose_level: 0 }, ...json },
      { settings: { log_verbose_level: { uint32_param: 0 } } },
    ),
    call('no CUDA shared memory', 'get_cuda_shared_memory_status', json, {}),
    {
      name: 'metadata of an unknown model',
      step: { operation: 'call', method: 'get_model_metadata', arguments: { model_name: 'nope' } },
      raises: { exception: 'InferenceServerException', code: 'StatusCode.NOT_FOUND', message: `[StatusCode.NOT_FOUND] ${UNKNOWN}` },
    },
    {
      name: 'load of an unknown model',
      step: { operation: 'call', method: 'load_model', arguments: { model_name: 'nope' } },
      raises: {
        exception: 'InferenceServerException',
        code: 'StatusCode.INTERNAL',
        message: "[StatusCode.INTERNAL] failed to load 'nope', failed to poll from model repository",
      },
    },
  ];
}

const refused = (name: string, model: string, inputs: readonly unknown[], code: string, message: string): Row => ({
  name,
  step: { operation: 'infer', request: asked(model, inputs), arguments: {} },
  raises: { exception: 'InferenceServerException', code: `StatusCode.${code}`, message: `[StatusCode.${code}] ${message}` },
});

export const GRPC: readonly Row[] = [
  ...grpcRows(),
  refused('infer on an unknown model', 'nope', [], 'NOT_FOUND', UNKNOWN),
  refused(
    'unary infer on a decoupled model',
    'tensorrt_llm',
    [],
    'UNIMPLEMENTED',
    "ModelInfer RPC doesn't support models with decoupled transaction policy",
  ),
  refused('a missing input', 'preprocessing', [query], 'INVALID_ARGUMENT', `[request id: one] ${MISSING}`),
  refused('a wrong datatype', 'preprocessing', [wrongQuery, length], 'INVALID_ARGUMENT', `[request id: one] ${WRONG_TYPE}`),
  {
    name: "the client's own deadline",
    step: { operation: 'infer', request: asked('preprocessing', [longQuery, length]), arguments: { client_timeout: 0.000_001 } },
    raises: { exception: 'InferenceServerException', code: 'StatusCode.DEADLINE_EXCEEDED', message: /Deadline [Ee]xceeded/ },
  },
  {
    // The client keeps neither a status nor the id of the request.
    name: 'an error inside a stream',
    step: { operation: 'stream', requests: [asked('nope', [])], in_flight: 1, cancel_after: null, wait_s: 10 },
    raises: { exception: 'InferenceServerException', code: null, message: UNKNOWN },
  },
];

const httpRefused = (name: string, model: string, inputs: readonly unknown[], code: string, message: string): Row => ({
  name,
  step: { operation: 'infer', request: asked(model, inputs), binary: true, outputs: [] },
  raises: { exception: 'InferenceServerException', code, message: `[${code}] ${message}` },
});

const generateRefused = (name: string, step: Omit<Step, 'operation'>, code: string, error: string): Row => ({
  name,
  step: { operation: 'generate', ...step },
  raises: { exception: 'HTTPError', code, message: JSON.stringify({ error }) },
});

export const HTTP: readonly Row[] = [
  call('live', 'is_server_live', {}, true),
  call('ready', 'is_server_ready', {}, true),
  call('a model is ready', 'is_model_ready', { model_name: 'ensemble' }, true),
  call('an unknown model is not ready', 'is_model_ready', { model_name: 'nope' }, false),
  call('server metadata', 'get_server_metadata', {}, { name: 'triton', extensions: has('statistics') }),
  call(
    'model metadata',
    'get_model_metadata',
    { model_name: 'ensemble' },
    { name: 'ensemble', versions: ['1'], inputs: named('text_input', { datatype: 'BYTES', shape: [-1, 1] }) },
  ),
  call(
    'model configuration',
    'get_model_config',
    { model_name: 'tensorrt_llm' },
    { name: 'tensorrt_llm', model_transaction_policy: { decoupled: true } },
  ),
  call('repository index', 'get_model_repository_index', {}, stockModelsReady),
  call('trace settings', 'get_trace_settings', {}, { trace_level: ['OFF'], trace_rate: '1000' }),
  call('trace rate set', 'update_trace_settings', { settings: { trace_rate: '7' } }, { trace_rate: '7' }),
  call('trace rate set back', 'update_trace_settings', { settings: { trace_rate: null } }, { trace_rate: '1000' }),
  call('log settings', 'get_log_settings', {}, { log_verbose_level: 0, log_info: true }),
  call('verbose log set', 'update_log_settings', { settings: { log_verbose_level: 1 } }, { log_verbose_level: 1 }),
  call('verbose log set back', 'update_log_settings', { settings: { log_verbose_level: 0 } }, { log_verbose_level: 0 }),
  call('no system shared memory', 'get_system_shared_memory_status', {}, []),
  httpRefused('infer on an unknown model', 'nope', [], '404', UNKNOWN),
  httpRefused(
    'infer on a decoupled model',
    'tensorrt_llm',
    [],
    '501',
    "HTTP end point doesn't support models with decoupled transaction policy",
  ),
  httpRefused('a missing input', 'preprocessing', [query], '400', `[request id: one] ${MISSING}`),
  httpRefused('a wrong datatype', 'preprocessing', [wrongQuery, length], '400', `[request id: one] ${WRONG_TYPE}`),
  generateRefused('generate on an unknown model', { model: 'nope', body: {} }, '404', UNKNOWN),
];

const chat = (body: Readonly<Record<string, unknown>>): Step => ({
  operation: 'ask',
  endpoint: 'chat',
  body: { model: 'ensemble', messages: [{ role: 'user', content: QUERY }], ...body },
  cancel_after: null,
});

/** The packages name statuses by classes. */
const OPENAI: readonly Row[] = [
  {
    name: 'the list of models',
    step: { operation: 'models' },
    result: function listsTheEnsemble(models: readonly { readonly id: string }[]) {
      return models.some((m) => m.id === 'ensemble');
    },
  },
  { name: 'an unknown model', step: chat({ model: 'nope' }), raises: { exception: 'BadRequestError', code: '400', detail: /nope/ } },
  {
    name: 'a temperature out of range',
    step: chat({ temperature: 3 }),
    raises: { exception: 'UnprocessableEntityError', code: '422', detail: /temperature/ },
  },
  { name: 'two answers at once', step: chat({ n: 2 }), raises: { exception: 'BadRequestError', code: '400', detail: /n/ } },
];

/** docs/observed.md#trtllm-serve: 400 for whatever it refuses, and no model that it does not know. */
const TRTLLM_SERVE: readonly Row[] = [
  {
    name: 'the list of models',
    step: { operation: 'models' },
    result: function listsOne(models: readonly { readonly id: string }[]) {
      return models.length === 1;
    },
  },
  {
    name: 'top_p out of range',
    step: chat({ top_p: 1.5 }),
    raises: { exception: 'BadRequestError', code: '400', detail: /require 0 <= top_p <= 1, got top_p=1\.5/ },
  },
  {
    name: 'a field that is not known',
    step: chat({ store: true }),
    raises: { exception: 'BadRequestError', code: '400', detail: /extra_forbidden/ },
  },
  {
    name: 'no messages',
    step: chat({ messages: [] }),
    raises: { exception: 'BadRequestError', code: '400', detail: /list index out of range/ },
  },
];

export const openAiRows = ({ profile }: Lab): readonly Row[] => (profile.openai.trtllmServe === undefined ? OPENAI : TRTLLM_SERVE);
