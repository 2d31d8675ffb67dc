import { join } from 'node:path';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import { type CoreTensor, ExecuteError, type Model, type ModelRequest, type ModelSetup } from '../core/index.ts';
import { decodeUtf8 } from './python-text.ts';
import {
  decodeBytesElements,
  fp32Tensor,
  flagOf,
  fp32Values,
  int32Tensor,
  int32Values,
  optional,
  parameterOf,
  uint64At,
  uint64Tensor,
} from './values.ts';
import { wordListTensor } from './word-list.ts';

/**
 * `preprocessing` of TensorRT-LLM 1.x, text path (upstream
 * `triton_backend/all_models/inflight_batcher_llm/preprocessing/1/model.py`; docs/observed.md#model-repository-1-x).
 *
 * Prompts are encoded with special tokens unless the parameter `add_special_tokens` says otherwise; stop and bad words
 * without; bias words always with. Faults: `add-special-tokens-default-false`, `stop-words-bos-in-ids`, `stop-words-dummy-prefix`,
 * `several-instances-one-gpu`.
 */
export function preprocessing(setup: ModelSetup, faults: ReadonlySet<string>): Model {
  const { config, directory } = setup;
  const tokenizer = loadTokenizer(join(directory, parameterOf(config, 'tokenizer_dir') ?? '.'));
  // Fault add-special-tokens-default-false: the default of releases up to 0.9 came back, whatever the template says.
  const addSpecialTokens = !faults.has('add-special-tokens-default-false') && flagOf(parameterOf(config, 'add_special_tokens'), true);
  const wordsWithSpecialTokens = faults.has('stop-words-bos-in-ids');
  const slowWords = faults.has('stop-words-dummy-prefix');
  const eosId = tokenizer.eosId ?? -1;
  const padId = tokenizer.padId ?? eosId;
  const trace = (line: number, where: string): string[] => [
    `${directory}/1/model.py(${line}): ${where}`,
    `${directory}/1/model.py(230): execute`,
  ];

  const encode = (text: string, special: boolean): number[] => tokenizer.encode(text, { addSpecialTokens: special });

  const phrases = (request: ModelRequest, name: string): number[][][] | undefined => {
    const tensor = optional(request, name);
    return (
      tensor &&
      rowsOf(tensor, request.batchSize).map((row) =>
        row.map((bytes) => {
          const word = decodeUtf8(bytes, trace(492, '_to_word_list_format'));
          // Fault stop-words-dummy-prefix: the space in front is kept, which two of them bring about here.
          return word === '' ? [] : encode(slowWords ? `  ${word}` : word, wordsWithSpecialTokens);
        }),
      )
    );
  };

  const failingInstance = faults.has('several-instances-one-gpu');
  let requests = 0;

  return {
    execute: (request, sender) => {
      const { batchSize } = request;
      // Fault several-instances-one-gpu: requests go to the instances in turn, and the second has no device.
      if (failingInstance && ++requests % 2 === 0) {
        sender.sendError(
          'INTERNAL',
          `Failed to process the request(s) for model '${config.name}_0_1', message: RuntimeError: CUDA error: out of memory`,
          true,
        );
        return;
      }
      const query = optional(request, 'QUERY');
      const outputLength = optional(request, 'REQUEST_OUTPUT_LEN');
      if (query === undefined)
        throw new ExecuteError("AttributeError: 'NoneType' object has no attribute 'as_numpy'", trace(171, 'execute').slice(0, 1));
      if (outputLength === undefined)
        throw new ExecuteError("AttributeError: 'NoneType' object has no attribute 'as_numpy'", trace(185, 'execute').slice(0, 1));

      const prompts = decodeBytesElements(query.data).map((bytes) => encode(decodeUtf8(bytes, trace(345, '<listcomp>')), addSpecialTokens));
      const given = optional(request, 'PAD_ID');
      const decoderQuery = optional(request, 'DECODER_QUERY');
      const decoderStart = given === undefined ? padId : (int32Values(given.data)[0] ?? padId);
      const decoders =
        decoderQuery === undefined
          ? prompts.map(() => [decoderStart])
          : decodeBytesElements(decoderQuery.data).map((bytes) => encode(decodeUtf8(bytes, trace(345, '<listcomp>')), addSpecialTokens));

      const outputs: CoreTensor[] = [
        paddedIds('INPUT_ID', prompts, padId),
        paddedIds('DECODER_INPUT_ID', decoders, padId),
        wordListTensor('BAD_WORDS_IDS', batchSize, phrases(request, 'BAD_WORDS_DICT')),
        wordListTensor('STOP_WORDS_IDS', batchSize, phrases(request, 'STOP_WORDS_DICT')),
        lengths('REQUEST_INPUT_LEN', prompts),
        lengths('REQUEST_DECODER_INPUT_LEN', decoders),
        { ...outputLength, name: 'REQUEST_OUTPUT_LEN' },
        embeddingBias(request, tokenizer, trace(560, '_get_embedding_bias')),
        idTensor('OUT_END_ID', optional(request, 'END_ID'), eosId, batchSize),
        idTensor('OUT_PAD_ID', given, padId, batchSize),
      ];
      if (optional(request, 'PROMPT_TABLE_EXTRA_ID') !== undefined) outputs.push(promptTableIds(request, prompts, tokenizer.vocabSize));
      sender.send(outputs, true);
    },
  };
}

/** BYTES elements per batch row. */
function rowsOf(tensor: CoreTensor, batchSize: number): Uint8Array[][] {
  const elements = decodeBytesElements(tensor.data);
  const perRow = elements.length / batchSize;
  return Array.from({ length: batchSize }, (_, row) => elements.slice(row * perRow, (row + 1) * perRow));
}

/** INT32 [batch, longest], right-padded; an empty prompt alone (no BOS) is [1, 0]. */
function paddedIds(name: string, rows: readonly (readonly number[])[], padId: number): CoreTensor {
  const length = Math.max(0, ...rows.map((row) => row.length));
  const values = new Int32Array(rows.length * length).fill(padId);
  rows.forEach((row, i) => values.set(row, i * length));
  return int32Tensor(name, [rows.length, length], values);
}

function lengths(name: string, rows: readonly (readonly number[])[]): CoreTensor {
  return int32Tensor(
    name,
    [rows.length, 1],
    rows.map((row) => row.length),
  );
}

function idTensor(name: string, given: CoreTensor | undefined, fallback: number, batchSize: number): CoreTensor {
  return given === undefined ? int32Tensor(name, [batchSize, 1], new Array<number>(batchSize).fill(fallback)) : { ...given, name };
}

/**
 * FP32 [batch, vocabulary]; [batch, 0] when words or weights are missing. Weights add up; the words carry their
 * special tokens, so BOS is biased too.
 */
function embeddingBias(request: ModelRequest, tokenizer: Tokenizer, at: readonly string[]): CoreTensor {
  const words = optional(request, 'EMBEDDING_BIAS_WORDS');
  const weights = optional(request, 'EMBEDDING_BIAS_WEIGHTS');
  const { batchSize } = request;
  if (words === undefined || weights === undefined) return fp32Tensor('EMBEDDING_BIAS', [batchSize, 0], []);
  const rows = rowsOf(words, batchSize);
  const values = fp32Values(weights.data);
  const perRow = values.length / batchSize;
  const bias = new Float32Array(batchSize * tokenizer.vocabSize);
  rows.forEach((row, r) => {
    if (row.length !== perRow)
      throw new ExecuteError('AssertionError: Embedding bias words must have same dimension as embedding bias weights', at);
    row.forEach((bytes, w) => {
      const ids = tokenizer.encode(decodeUtf8(bytes, at), { addSpecialTokens: true });
      for (const id of ids) {
        const at = r * tokenizer.vocabSize + id;
        bias[at] = (bias[at] ?? 0) + (values[r * perRow + w] ?? 0);
      }
    });
  });
  return fp32Tensor('EMBEDDING_BIAS', [batchSize, tokenizer.vocabSize], bias);
}

/** UINT64 [batch, longest]: the client's id where a prompt id lies beyond the vocabulary, else 0. */
function promptTableIds(request: ModelRequest, prompts: readonly (readonly number[])[], vocabSize: number): CoreTensor {
  const length = Math.max(1, ...prompts.map((p) => p.length));
  const values = prompts.flatMap((prompt, row) => {
    const extra = uint64At(request, 'PROMPT_TABLE_EXTRA_ID', row) ?? 0n;
    return Array.from({ length }, (_, i) => ((prompt[i] ?? 0) >= vocabSize ? extra : 0n));
  });
  return uint64Tensor('OUT_PROMPT_TABLE_EXTRA_IDS', [prompts.length, length], values);
}
