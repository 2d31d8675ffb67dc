/** The stock models as configurations: which tensors, which parameters, one instance, no dynamic batching. */
import type { RepositoryRelease } from '#core/profile/index.ts';
import type { ModelText, Setting, Step } from './config-text.ts';
import {
  BLS_PARAMETERS,
  ENGINE_PARAMETERS,
  type ParameterRow,
  parametersOf,
  POSTPROCESSING_PARAMETERS,
  PREPROCESSING_PARAMETERS,
} from './parameters.ts';
import { ENGINE_INPUTS, ENGINE_OUTPUTS } from './tensors/engine.ts';
import { LLMAPI_INPUTS, LLMAPI_OUTPUTS } from './tensors/llmapi.ts';
import { declared, type DeclaredTensor, type TensorRow } from './tensors/row.ts';
import { BLS_INPUTS, ENSEMBLE_INPUTS, TEXT_OUTPUTS } from './tensors/text.ts';
import {
  POSTPROCESSING_INPUTS,
  POSTPROCESSING_OUTPUTS,
  PREPROCESSING_INPUTS,
  PREPROCESSING_OUTPUTS,
  VISION_INPUTS,
  VISION_OUTPUTS,
} from './tensors/tokens.ts';

export interface Filling {
  readonly release: RepositoryRelease;
  /** fill_template's name → value and the reason for it. */
  readonly values: Readonly<Record<string, { readonly value: string; readonly why?: string | undefined }>>;
  /** Parameters beside the stock ones, by model. */
  readonly more: Readonly<Record<string, readonly Setting[]>>;
  /** False: the models take no pictures, and their tensors are left out. */
  readonly vision: boolean;
  /** First line of every file. */
  readonly title: string;
}

export function stockModels(filling: Filling): readonly ModelText[] {
  return [preprocessing(filling), engine(filling), postprocessing(filling), ensemble(filling), bls(filling)];
}

function engine(filling: Filling): ModelText {
  return {
    ...empty(filling, 'tensorrt_llm', ['no dynamic_batching: the server hands requests to the engine one by one.']),
    backend: valueOf(filling, 'triton_backend'),
    decoupled: valueOf(filling, 'decoupled_mode'),
    inputs: tensors(filling, ENGINE_INPUTS),
    outputs: tensors(filling, ENGINE_OUTPUTS),
    instances: '1',
    parameters: settings(filling, 'tensorrt_llm', ENGINE_PARAMETERS),
  };
}

function preprocessing(filling: Filling): ModelText {
  return {
    ...empty(filling, 'preprocessing', ['no dynamic_batching: one bad prompt does not fail its neighbours.']),
    inputs: tensors(filling, [...PREPROCESSING_INPUTS, ...(filling.vision ? VISION_INPUTS : [])]),
    outputs: tensors(filling, [...PREPROCESSING_OUTPUTS, ...(filling.vision ? VISION_OUTPUTS : [])]),
    instances: valueOf(filling, 'preprocessing_instance_count'),
    parameters: settings(filling, 'preprocessing', PREPROCESSING_PARAMETERS),
  };
}

function postprocessing(filling: Filling): ModelText {
  return {
    ...empty(filling, 'postprocessing', ['One instance and no dynamic_batching: the chunks of a stream stay in order.']),
    inputs: tensors(filling, POSTPROCESSING_INPUTS),
    outputs: tensors(filling, POSTPROCESSING_OUTPUTS),
    instances: valueOf(filling, 'postprocessing_instance_count'),
    parameters: settings(filling, 'postprocessing', POSTPROCESSING_PARAMETERS),
  };
}

function bls(filling: Filling): ModelText {
  return {
    ...empty(filling, 'tensorrt_llm_bls', ['One instance takes one request at a time.']),
    decoupled: valueOf(filling, 'decoupled_mode'),
    inputs: tensors(filling, BLS_INPUTS),
    outputs: tensors(filling, TEXT_OUTPUTS),
    instances: valueOf(filling, 'bls_instance_count'),
    parameters: settings(filling, 'tensorrt_llm_bls', BLS_PARAMETERS),
  };
}

/** Steps as upstream wires them: what the ensemble takes goes to preprocessing or straight to the engine, renamed where it must be. */
function ensemble(filling: Filling): ModelText {
  const inputs = tensors(filling, ENSEMBLE_INPUTS);
  const outputs = tensors(filling, TEXT_OUTPUTS);
  return {
    ...empty(filling, 'ensemble', ['Decoupled when its tensorrt_llm step is.']),
    backend: undefined,
    inputs,
    outputs,
    steps: ensembleSteps(filling, inputs, outputs),
  };
}

const TO_PREPROCESSING: Step['inputs'] = [
  ['QUERY', 'text_input'],
  ['DECODER_QUERY', 'decoder_text_input'],
  ['REQUEST_OUTPUT_LEN', 'max_tokens'],
  ['BAD_WORDS_DICT', 'bad_words'],
  ['STOP_WORDS_DICT', 'stop_words'],
  ['EMBEDDING_BIAS_WORDS', 'embedding_bias_words'],
  ['EMBEDDING_BIAS_WEIGHTS', 'embedding_bias_weights'],
  ['END_ID', 'end_id'],
  ['PAD_ID', 'pad_id'],
  ['PROMPT_TABLE_EXTRA_ID', 'prompt_table_extra_id'],
];

const FROM_PREPROCESSING: Step['outputs'] = [
  ['REQUEST_INPUT_LEN', '_REQUEST_INPUT_LEN'],
  ['INPUT_ID', '_INPUT_ID'],
  ['REQUEST_DECODER_INPUT_LEN', '_REQUEST_DECODER_INPUT_LEN'],
  ['DECODER_INPUT_ID', '_DECODER_INPUT_ID'],
  ['REQUEST_OUTPUT_LEN', '_REQUEST_OUTPUT_LEN'],
  ['STOP_WORDS_IDS', '_STOP_WORDS_IDS'],
  ['BAD_WORDS_IDS', '_BAD_WORDS_IDS'],
  ['EMBEDDING_BIAS', '_EMBEDDING_BIAS'],
  ['OUT_END_ID', '_PREPROCESSOR_END_ID'],
  ['OUT_PAD_ID', '_PREPROCESSOR_PAD_ID'],
  ['OUT_PROMPT_TABLE_EXTRA_IDS', '_OUT_PROMPT_TABLE_EXTRA_IDS'],
];

const TO_ENGINE: Step['inputs'] = [
  ['input_ids', '_INPUT_ID'],
  ['decoder_input_ids', '_DECODER_INPUT_ID'],
  ['input_lengths', '_REQUEST_INPUT_LEN'],
  ['decoder_input_lengths', '_REQUEST_DECODER_INPUT_LEN'],
  ['request_output_len', '_REQUEST_OUTPUT_LEN'],
  ['end_id', '_PREPROCESSOR_END_ID'],
  ['pad_id', '_PREPROCESSOR_PAD_ID'],
  ['embedding_bias', '_EMBEDDING_BIAS'],
  ['stop_words_list', '_STOP_WORDS_IDS'],
  ['bad_words_list', '_BAD_WORDS_IDS'],
  ['prompt_table_extra_ids', '_OUT_PROMPT_TABLE_EXTRA_IDS'],
];

/** Ensemble input → engine input, where the two are not called the same. */
const RENAMED: Readonly<Record<string, string>> = {
  top_k: 'runtime_top_k',
  top_p: 'runtime_top_p',
  length_penalty: 'len_penalty',
  stream: 'streaming',
};

function ensembleSteps(filling: Filling, inputs: readonly DeclaredTensor[], outputs: readonly DeclaredTensor[]): readonly Step[] {
  const prepared = new Set(TO_PREPROCESSING.map(([, name]) => name));
  const straight = inputs.filter(({ name }) => !prepared.has(name)).map(({ name }) => [RENAMED[name] ?? name, name] as const);
  const facts = outputs.filter(({ name }) => name !== 'text_output').map(({ name }) => [name, name] as const);
  return [
    { model: 'preprocessing', inputs: TO_PREPROCESSING, outputs: FROM_PREPROCESSING },
    {
      model: valueOf(filling, 'tensorrt_llm_model_name'),
      inputs: [...TO_ENGINE, ...straight],
      outputs: [['output_ids', '_TOKENS_BATCH'], ['sequence_length', '_SEQUENCE_LENGTH'], ...facts],
    },
    {
      model: 'postprocessing',
      inputs: [
        ['TOKENS_BATCH', '_TOKENS_BATCH'],
        ['SEQUENCE_LENGTH', '_SEQUENCE_LENGTH'],
      ],
      outputs: [['OUTPUT', 'text_output']],
    },
  ];
}

/** The one model of the LLM API; upstream calls it `tensorrt_llm` too. It does not batch. */
export function llmapiModel(filling: Filling): ModelText {
  return {
    ...empty(filling, 'tensorrt_llm', [
      'max_batch_size and the transaction policy stand in 1/model.yaml too: a server started with',
      '--disable-auto-complete-config reads them here alone.',
    ]),
    maxBatchSize: '0',
    decoupled: valueOf(filling, 'decoupled_mode'),
    inputs: tensors(filling, LLMAPI_INPUTS),
    outputs: tensors(filling, LLMAPI_OUTPUTS),
    instances: '1',
    parameters: filling.more['tensorrt_llm'] ?? [],
  };
}

function empty(filling: Filling, name: string, comment: readonly string[]): ModelText {
  return {
    comment: [filling.title, ...comment],
    name,
    backend: 'python',
    maxBatchSize: valueOf(filling, 'triton_max_batch_size'),
    decoupled: undefined,
    inputs: [],
    outputs: [],
    instances: undefined,
    steps: [],
    parameters: [],
  };
}

function valueOf(filling: Filling, variable: string): string {
  const found = filling.values[variable];
  if (found === undefined) throw new TypeError(`nothing fills ${variable}`);
  return found.value;
}

const CHOSEN = {
  LOGITS: 'logits_datatype',
  ENCODER_FEATURES: 'encoder_input_features_data_type',
  PROMPT_TABLE: 'prompt_embedding_table_data_type',
} as const;

function tensors(filling: Filling, rows: readonly TensorRow[]): readonly DeclaredTensor[] {
  return declared(rows, filling.release).map((one) =>
    one.type in CHOSEN ? { ...one, type: valueOf(filling, CHOSEN[one.type as keyof typeof CHOSEN]).replace(/^TYPE_/, '') } : one,
  );
}

function settings(filling: Filling, model: string, rows: readonly ParameterRow[]): readonly Setting[] {
  const stock = parametersOf(rows, filling.release).map(({ key, variable, fixed }) => {
    const given = filling.values[variable];
    return { key, value: fixed ?? given?.value ?? `\${${variable}}`, comment: given?.why };
  });
  return [...stock, ...(filling.more[model] ?? [])];
}
