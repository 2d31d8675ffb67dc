import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { GAPS } from '#checks/laws/index.ts';
import { DEFAULT_PROFILE, IDEAL_PROFILE, profileOf, RELEASES } from '#core/profile/index.ts';
import { REQUEST_FIELDS } from '#embedded/openai/index.ts';
import { requestFields } from '#embedded/trtllm-serve/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';
import { chances, firstChange, penalized } from './oracle.ts';
import {
  cellOf,
  DROPPED_FIELDS,
  FAMILIES,
  IGNORED_PARAMETERS,
  NOT_ASKED,
  type Probe,
  type Surface,
  TEMPERATURE_ZERO_SAMPLES,
} from './index.ts';

const MODELS = ['tensorrt_llm', 'ensemble', 'tensorrt_llm_bls', 'llmapi'] as const;
const INPUTS: readonly (readonly [Surface, readonly string[]])[] = [
  ...MODELS.map((model) => [model, readModelConfig(join(MODEL_REPOSITORY, model, 'config.pbtxt')).input.map(({ name }) => name)] as const),
  ['completions', REQUEST_FIELDS.completions],
  ['chat', REQUEST_FIELDS.chat],
];

describe('every input that is declared', () => {
  test.each(INPUTS)('by %s is asked by a claim, or is on the list of those that are not, and why', (surface, inputs) => {
    const unasked = inputs.filter((input) => NOT_ASKED[surface]?.[input] === undefined);
    expect(unasked.filter((input) => cellOf(surface, input, DEFAULT_PROFILE).evidence.length === 0)).toEqual([]);
    expect(unasked.filter((input) => cellOf(surface, input, DEFAULT_PROFILE).statuses.includes('unknown'))).toEqual([]);
    expect(inputs.filter((input) => cellOf(surface, input, IDEAL_PROFILE).statuses.includes('gap'))).toEqual([]);
  });
});

describe.each(RELEASES.openai.filter(({ trtllmServe }) => trtllmServe !== undefined))('every field of $id', ({ id, trtllmServe }) => {
  test('is asked by a claim, or is on the list of those that are not, and why', () => {
    const fields = requestFields(trtllmServe!).filter((field) => NOT_ASKED['trtllm-serve']?.[field] === undefined);
    const cells = fields.map((field) => [field, cellOf('trtllm-serve', field, profileOf(`openai=${id}`))] as const);
    expect(fields.length).toBeGreaterThan(40);
    expect(cells.filter(([, cell]) => cell.evidence.length === 0 || cell.statuses.includes('unknown')).map(([field]) => field)).toEqual([]);
  });
});

test('a probe has a name of its own', () => {
  const ids = (Object.values(FAMILIES).flat() as readonly Probe[]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ['min_tokens', ['gap'], ['front-end-drops-fields']],
  ['temperature', ['supported', 'gap'], ['temperature-0-with-top-p-samples']],
  ['n', ['no effect', 'refused'], []],
  ['echo', ['supported'], []],
] as const)('completions: %s is %j', (input, statuses, gaps) => {
  expect(cellOf('completions', input, DEFAULT_PROFILE)).toMatchObject({ statuses, gaps });
});

test('llmapi: best_of is accepted where it says nothing, and refused elsewhere', () => {
  expect(cellOf('llmapi', 'sampling_param_best_of', DEFAULT_PROFILE).statuses).toEqual(['no effect', 'refused']);
});

test.each([...GAPS, DROPPED_FIELDS, TEMPERATURE_ZERO_SAMPLES, ...IGNORED_PARAMETERS])(
  '$id names the releases whose profile has it',
  (gap) => {
    const { axis, releases } = gap;
    // A gap may need the right release on another axis as well.
    const beside = axis === 'openai' ? 'models' : 'openai';
    const having = RELEASES[axis].filter((release) =>
      RELEASES[beside].some((other) => gap.listed(profileOf(`${axis}=${release.id},${beside}=${other.id}`))),
    );
    expect(releases.toSorted()).toEqual(having.map(({ id }) => id).toSorted());
  },
);

describe('the oracle', () => {
  const logits = Float32Array.from([1, 3, 2, -1]);

  test('a penalty divides what is positive and multiplies what is negative, prompt and answer counted together', () => {
    expect([...penalized({ repetitionPenalty: 2 })(logits, [1, 3])]).toEqual([1, 1.5, 2, -2]);
    expect([...penalized({ presencePenalty: 0.5, frequencyPenalty: 1 })(logits, [1, 1])]).toEqual([1, 0.5, 2, -1]);
  });

  test('the first change is the first step whose winner is another; a close one predicts nothing', () => {
    const subject = { ids: [0], greedy: [1, 1], logits: [logits, logits] };
    expect(firstChange(subject, penalized({ frequencyPenalty: 1.5 }))).toEqual({ at: 1, id: 2 });
    expect(firstChange(subject, penalized({ frequencyPenalty: 1 }))).toBeUndefined();
    expect(firstChange(subject, penalized({}))).toBeUndefined();
  });

  test('chances are softmax by temperature inside top-k, then the smallest head that holds top-p', () => {
    const softmax = [1, 3, 2, -1].map((x) => Math.exp(x)).map((x, _, all) => x / all.reduce((a, b) => a + b, 0));
    expect([...chances(logits, {})]).toEqual(softmax.map((p) => expect.closeTo(p, 10)));
    expect([...chances(logits, { topK: 1 })]).toEqual([0, 1, 0, 0]);
    expect([...chances(logits, { topP: 0.7 })]).toEqual([
      0,
      expect.closeTo(Math.E / (1 + Math.E), 6),
      expect.closeTo(1 / (1 + Math.E), 6),
      0,
    ]);
    expect([...chances(logits, { temperature: 2, topK: 2 })]).toEqual([0, expect.closeTo(0.6225, 3), expect.closeTo(0.3775, 3), 0]);
  });
});
