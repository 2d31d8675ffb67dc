/** Fields that trtllm-serve acts on and that no word stands for (docs/observed.md#trtllm-serve). */
import { wordOf } from '../judge.ts';
import type { FieldInput, FieldProbe } from '../probe.ts';
import { LENGTH } from '../subject.ts';

const ABSOLUTE = 1000;
const TOOL = { type: 'function', function: { name: 'f' } };

const chat = (name: string, json: unknown, beside: Readonly<Record<string, unknown>> = {}): FieldInput => ({
  name,
  on: 'openai-chat',
  value: { json },
  beside: () => beside,
});
/** A template that says whether it was given the variable. */
const told = (variable: string) => ({ chat_template: `a{% if ${variable} %} and b{% endif %}` });

export const SERVE_FIELDS: readonly FieldProbe[] = [
  {
    kind: 'field',
    id: 'ids-of-the-answer',
    effect: 'A bias by id takes a token out of the choice, and a stop id ends the answer before it.',
    inputs: {
      'trtllm-serve': [
        { name: 'logit_bias', value: ({ greedy }) => ({ [greedy[0]!]: -ABSOLUTE }) },
        { name: 'stop_token_ids', value: ({ greedy }) => [greedy[1]!] },
      ],
    },
    fits: (s) => s.greedy.length > 2,
  },
  {
    kind: 'field',
    id: 'text-of-the-answer',
    effect: 'The stop string is kept, special tokens are shown, and nothing is decoded, where that is asked for.',
    inputs: {
      'trtllm-serve': [
        {
          name: 'include_stop_str_in_output',
          value: { json: true },
          beside: (s, context) => ({ stop: [wordOf(s.greedy[1]!, context)!.trim()] }),
        },
        {
          name: 'skip_special_tokens',
          value: { json: false },
          beside: (_, { tokenizer }) => ({ logit_bias: { [tokenizer.bosId ?? 0]: ABSOLUTE } }),
        },
        { name: 'detokenize', on: 'openai-completions', value: { json: false } },
        { name: 'echo', on: 'openai-completions', value: { json: true } },
      ],
    },
    fits: (s, context) => s.greedy.length > 2 && /[a-z]/i.test(wordOf(s.greedy[1]!, context) ?? ''),
  },
  {
    kind: 'field',
    id: 'ids-of-the-prompt',
    effect: 'The prompt is cut, is given as ids, or gets its special tokens from the tokenizer or not.',
    inputs: {
      'trtllm-serve': [
        { name: 'truncate_prompt_tokens', value: { json: 2 } },
        { name: 'add_special_tokens', on: 'openai-completions', value: { json: false } },
        chat('add_special_tokens', true),
        chat('prompt_token_ids', [4, 5]),
      ],
    },
    fits: (s) => s.ids.length > 3 && s.greedy.length > 0,
  },
  {
    kind: 'field',
    id: 'template-of-the-prompt',
    effect: 'The template is the one of the request, and is told what the request says for it; a tool that must be called takes the text.',
    inputs: {
      'trtllm-serve': [
        chat('chat_template', 'a'),
        chat('add_generation_prompt', false, told('add_generation_prompt')),
        chat('documents', [{ title: 'x' }], told('documents')),
        chat('chat_template_kwargs', { extra: true }, told('extra')),
        chat('tools', [TOOL], told('tools')),
        chat('tool_choice', { type: 'function', function: { name: 'f' } }, { tools: [TOOL] }),
      ],
    },
    fits: (s) => s.greedy.length > 0,
  },
  {
    kind: 'field',
    id: 'log-probabilities-of-the-answer',
    effect: 'Log-probabilities come when they are asked for, as many as are asked for.',
    inputs: {
      'trtllm-serve': [
        {
          name: 'logprobs',
          on: 'openai-completions',
          value: { json: 1 },
          refused: ({ openai }) => openai.trtllmServe?.completionLogProbs.value === false,
        },
        chat('logprobs', true),
        chat('top_logprobs', 3, { logprobs: true }),
      ],
    },
    fits: (s) => s.greedy.length > 0,
  },
  {
    kind: 'field',
    id: 'limit-by-its-new-name',
    effect: 'max_completion_tokens ends the answer as max_tokens does.',
    inputs: { 'trtllm-serve': [chat('max_completion_tokens', 1, { max_tokens: undefined })] },
    fits: (s) => s.ended && s.greedy.length > 1 && s.greedy.length < LENGTH,
  },
];
