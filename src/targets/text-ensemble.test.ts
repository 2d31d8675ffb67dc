import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { parseModelConfig } from '#wire/protocol/pbtxt.ts';
import { textEnsemble } from './text-ensemble.ts';

const CONFIG = readFileSync(join(MODEL_REPOSITORY, 'ensemble/config.pbtxt'), 'utf8');

test('the ensemble of text has one output, the same inputs, and steps that map nothing else outside', () => {
  const [whole, text] = [parseModelConfig(CONFIG, 'whole'), parseModelConfig(textEnsemble(CONFIG), 'text')];
  expect(text.output.map((o) => o.name)).toEqual(['text_output']);
  expect(text.input).toEqual(whole.input);
  const steps = text.ensemble_scheduling?.step ?? [];
  expect(steps.map((s) => s.model_name)).toEqual(['preprocessing', 'tensorrt_llm', 'postprocessing']);
  expect(steps[1]?.output_map).toEqual({ output_ids: '_TOKENS_BATCH', sequence_length: '_SEQUENCE_LENGTH' });
  expect(steps[0]).toEqual(whole.ensemble_scheduling?.step[0]);
});

test('a configuration in another form is refused', () => {
  expect(() => textEnsemble('name: "ensemble"')).toThrow('[repository-unreadable]');
});
