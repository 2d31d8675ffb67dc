/** The tensors of `preprocessing` and `postprocessing`, by release. NVIDIA's models look them up by name as they load, those of pictures too. */
import { row, type TensorRow } from './row.ts';

const SINCE_0_15 = { since: '0.15' } as const;
const SINCE_0_16 = { since: '0.16' } as const;
const SINCE_0_19 = { since: '0.19' } as const;
const SINCE_1_X = { since: '1.x' } as const;

export const PREPROCESSING_INPUTS: readonly TensorRow[] = [
  row('QUERY', 'STRING', [1]),
  row('DECODER_QUERY', 'STRING', [1], 'optional'),
  row('REQUEST_OUTPUT_LEN', 'INT32', [1]),
  row('BAD_WORDS_DICT', 'STRING', [-1], 'optional'),
  row('STOP_WORDS_DICT', 'STRING', [-1], 'optional'),
  row('EMBEDDING_BIAS_WORDS', 'STRING', [-1], 'optional'),
  row('EMBEDDING_BIAS_WEIGHTS', 'FP32', [-1], 'optional'),
  row('END_ID', 'INT32', [1], 'optional'),
  row('PAD_ID', 'INT32', [1], 'optional'),
  row('PROMPT_TABLE_EXTRA_ID', 'UINT64', [1], 'optional'),
];

export const VISION_INPUTS: readonly TensorRow[] = [
  row('IMAGE_BYTES', 'UINT8', [-1, -1, -1, -1], 'optional', SINCE_0_15),
  row('IMAGE_URL', 'STRING', [1], 'optional', SINCE_0_15),
  row('IMAGES', 'STRING', [-1], 'optional', SINCE_1_X),
  row('VIDEO_BYTES', 'UINT8', [-1, -1, -1, -1], 'optional', SINCE_0_16),
];

export const PREPROCESSING_OUTPUTS: readonly TensorRow[] = [
  row('INPUT_ID', 'INT32', [-1]),
  row('REQUEST_INPUT_LEN', 'INT32', [1]),
  row('DECODER_INPUT_ID', 'INT32', [-1]),
  row('REQUEST_DECODER_INPUT_LEN', 'INT32', [1]),
  row('BAD_WORDS_IDS', 'INT32', [2, -1]),
  row('STOP_WORDS_IDS', 'INT32', [2, -1]),
  row('EMBEDDING_BIAS', 'FP32', [-1]),
  row('REQUEST_OUTPUT_LEN', 'INT32', [-1]),
  row('OUT_END_ID', 'INT32', [1]),
  row('OUT_PAD_ID', 'INT32', [1]),
  row('OUT_PROMPT_TABLE_EXTRA_IDS', 'UINT64', [-1]),
];

export const VISION_OUTPUTS: readonly TensorRow[] = [
  row('PIXEL_VALUES', 'FP16', [-1, -1, -1, -1], '', SINCE_0_15),
  row('ASPECT_RATIO_IDS', 'INT64', [-1], '', SINCE_0_15),
  row('ASPECT_RATIO_MASK', 'INT64', [-1, -1], '', SINCE_0_15),
  row('CROSS_ATTENTION_MASK', 'INT64', [-1, -1, -1], '', SINCE_0_15),
  row('IMAGE_SIZES', 'INT64', [2], '', { since: '0.16', until: '0.19' }),
  row('IMAGE_SIZES', 'INT64', [-1, 2], '', SINCE_1_X),
  row('IS_VIDEO_INPUT', 'BOOL', [1], '', SINCE_0_16),
  row('ATTENTION_MASK', 'INT64', [-1], '', SINCE_0_19),
  row('IMAGE_GRID_THW', 'INT64', [3], '', SINCE_0_19),
  row('VISION_INPUT_ID', 'INT32', [-1], '', SINCE_0_19),
];

export const POSTPROCESSING_INPUTS: readonly TensorRow[] = [row('TOKENS_BATCH', 'INT32', [-1, -1]), row('SEQUENCE_LENGTH', 'INT32', [-1])];

export const POSTPROCESSING_OUTPUTS: readonly TensorRow[] = [row('OUTPUT', 'STRING', [-1])];
