import type { Extra, FieldProbe } from '../probe.ts';
import { LENGTH } from '../subject.ts';

const both = (...extras: readonly Extra[]): FieldProbe['inputs'] => ({ completions: extras, chat: extras });

const IGNORE_EOS: Extra = { name: 'ignore_eos', value: { json: true } };

/** Fields that the front end accepts for TensorRT-LLM models, and that only another front end or back end acts on. */
export const FIELDS: readonly FieldProbe[] = [
  {
    kind: 'field',
    id: 'min-tokens-field',
    effect: 'min_tokens holds EOS back until that many tokens were generated.',
    inputs: both({ name: 'min_tokens', value: { json: LENGTH } }),
    fits: (s) => s.ended && s.greedy.length < LENGTH - 2,
  },
  {
    kind: 'field',
    id: 'ignore-eos',
    effect: 'ignore_eos lets the answer go on past EOS.',
    inputs: { ...both(IGNORE_EOS), 'trtllm-serve': [IGNORE_EOS] },
    fits: (s) => s.ended && s.greedy.length < LENGTH - 2,
  },
  {
    kind: 'field',
    id: 'echo-field',
    effect: 'echo lets the answer begin with the prompt.',
    inputs: { completions: [{ name: 'echo', value: { json: true } }] },
    fits: (s) => s.greedy.length > 0,
  },
  {
    kind: 'field',
    id: 'response-format',
    effect: 'response_format json_object makes the answer JSON.',
    inputs: { chat: [{ name: 'response_format', value: { json: { type: 'json_object' } } }] },
    fits: (s) => s.greedy.length > 0,
  },
  {
    kind: 'field',
    id: 'functions',
    effect: 'functions are told to the model, so that the prompt is another.',
    inputs: {
      chat: [
        { name: 'functions', value: { json: [{ name: 'f', description: 'a function', parameters: {} }] } },
        { name: 'function_call', value: { json: { name: 'f' } } },
      ],
    },
    fits: (s) => s.greedy.length > 0,
  },
];
