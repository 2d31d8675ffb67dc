import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SPM_CHECKPOINT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { fitOf, planRepository, readEngineConfig, writeRepository } from './index.ts';

let dir: string;
let models: string;
let engine: string;

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep fit ')));
  [models, engine] = [join(dir, 'models'), join(dir, 'engine')];
  makeEngine({ max_batch_size: 4, max_beam_width: 2, plugin_config: { tokens_per_block: 64, use_paged_context_fmha: false } });
  for (const model of ['preprocessing', 'postprocessing', 'tensorrt_llm', 'tensorrt_llm_bls']) {
    mkdirSync(join(dir, 'nvidia/inflight_batcher_llm', model, '1'), { recursive: true });
    writeFileSync(join(dir, 'nvidia/inflight_batcher_llm', model, '1/model.py'), '# of somebody else\n');
  }
  const { files } = planRepository({
    ...{ form: 'inflight', backend: 'tensorrtllm', release: undefined, parallel: 'leader', set: {} },
    ...{ engine, tokenizer: TINY_CHECKPOINT, nvidiaModels: join(dir, 'nvidia') },
  });
  writeRepository(files, models);
});
afterEach(() => rmSync(dir, { recursive: true }));

function makeEngine(build: object): void {
  mkdirSync(engine, { recursive: true });
  const config = { version: '1.1.0', pretrained_config: { vocab_size: 512, mapping: { world_size: 1 } }, build_config: build };
  writeFileSync(join(engine, 'config.json'), JSON.stringify(config, null, 2));
  writeFileSync(join(engine, 'rank0.engine'), '');
}

const misfits = (more: { readonly checkpoint?: string; readonly onThisHost?: boolean } = {}) =>
  fitOf(models, {
    engine: readEngineConfig(engine),
    tokenizerHash: sha256(readFileSync(join(more.checkpoint ?? TINY_CHECKPOINT, 'tokenizer.json'))),
    onThisHost: more.onThisHost ?? true,
  }).misfits.map(({ level, text, next }) => `${level} ${text.replaceAll(`${models}/`, '')}${next === '' ? ' and no next step' : ''}`);

function edit(model: string, from: RegExp, to: string): void {
  const file = join(models, model, 'config.pbtxt');
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(file, text.replace(from, to));
}

const parameter = (key: string) => new RegExp(String.raw`(key: "${key}"\s*value: \{\s*string_value: )"[^"]*"`);

test('what was made of an engine and its tokenizer fits them', () => {
  expect(misfits()).toEqual([]);
});

test('another tokenizer than the one of the run is told for each model that has it', () => {
  expect(misfits({ checkpoint: SPM_CHECKPOINT })).toEqual(
    ['postprocessing', 'preprocessing'].map((model) =>
      expect.stringMatching(
        new RegExp(
          `^fails ${model}/config.pbtxt:\\d+: tokenizer_dir is another tokenizer \\(sha256 b7851867e150\\) than the one of this run \\(3c04b544`,
        ),
      ),
    ),
  );
});

test('another engine, and a folder that is not there, are told by their line', () => {
  cpSync(engine, join(dir, 'other'), { recursive: true });
  renameSync(engine, join(dir, 'first'));
  makeEngine({ max_batch_size: 4, max_beam_width: 3 });
  edit('tensorrt_llm', parameter('gpt_model_path'), `$1"${join(dir, 'other')}"`);
  expect(misfits()).toEqual([expect.stringMatching(/^fails tensorrt_llm\/config\.pbtxt:\d+: gpt_model_path is another engine than /)]);
  edit('tensorrt_llm', parameter('gpt_model_path'), '$1"/nowhere"');
  expect(misfits()).toEqual([expect.stringMatching(/^fails .*: gpt_model_path is \/nowhere, and there is no such folder$/)]);
  // In a container it may well be there.
  expect(misfits({ onThisHost: false })).toEqual([]);
});

test('a template that nobody filled in, and a step without its model', () => {
  edit('preprocessing', parameter('tokenizer_dir'), '$1"${tokenizer_dir}"');
  edit('ensemble', /model_name: "postprocessing"/, 'model_name: "detokenizer"');
  expect(misfits()).toEqual([
    expect.stringMatching(/^fails ensemble\/config\.pbtxt:\d+: its step detokenizer is no model of this repository$/),
    expect.stringMatching(/^fails preprocessing\/config\.pbtxt:\d+: tokenizer_dir is not filled in$/),
  ]);
});

test('more than the engine was built for', () => {
  edit('tensorrt_llm', /max_batch_size: \d+/, 'max_batch_size: 8');
  edit('tensorrt_llm', parameter('max_beam_width'), '$1"3"');
  edit('tensorrt_llm', parameter('enable_kv_cache_reuse'), '$1"true"');
  expect(misfits()).toEqual([
    expect.stringMatching(/^differs tensorrt_llm\/config\.pbtxt:\d+: max_batch_size is 8, and the engine was built for 4$/),
    expect.stringMatching(/^differs tensorrt_llm\/config\.pbtxt:\d+: max_beam_width is 3, and the engine was built for 2$/),
    expect.stringMatching(
      /^differs .*: enable_kv_cache_reuse is true, and the engine was built without use_paged_context_fmha, which reuse needs$/,
    ),
  ]);
});

test('a repository without the models that the suite asks', () => {
  for (const model of ['ensemble', 'tensorrt_llm']) renameSync(join(models, model), join(dir, model));
  expect(misfits()).toEqual([expect.stringContaining('there is no model of the kind tensorrt_llm and none of the kind ensemble')]);
});
