import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LETTER } from '#core/testing/letters.ts';
import { LockstepError } from '#core/errors/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { REPOSITORY_RELEASES } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { parseModelConfig, readModelConfig } from '#wire/protocol/pbtxt.ts';
import { configText } from './config-text.ts';
import { planRepository, type RepositoryOptions, writeRepository } from './index.ts';
import { llmapiModel, stockModels } from './models.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep repository ')));
const engine = join(dir, 'an engine');
const nvidia = join(dir, 'all_models');
const options: RepositoryOptions = {
  form: 'inflight',
  backend: 'tensorrtllm',
  release: undefined,
  engine,
  tokenizer: TINY_CHECKPOINT,
  nvidiaModels: nvidia,
  parallel: 'leader',
  set: {},
};

function engineConfig(more: object = {}, mapping: object = { world_size: 2, tp_size: 2, pp_size: 1 }): object {
  return {
    version: '1.1.0',
    pretrained_config: { architecture: 'LlamaForCausalLM', dtype: 'float16', logits_dtype: 'float16', mapping },
    build_config: { max_batch_size: 4, max_beam_width: 2, plugin_config: { gemm_plugin: 'auto' } },
    ...more,
  };
}

function makeEngine(folder: string, config: object | string, ranks = 2): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  for (let rank = 0; rank < ranks; rank++) writeFileSync(join(folder, `rank${rank}.engine`), '');
}

beforeAll(() => {
  makeEngine(engine, engineConfig());
  for (const model of ['preprocessing', 'postprocessing', 'tensorrt_llm', 'tensorrt_llm_bls']) {
    mkdirSync(join(nvidia, 'inflight_batcher_llm', model, '1', '__pycache__'), { recursive: true });
    writeFileSync(join(nvidia, 'inflight_batcher_llm', model, '1', 'model.py'), `# ${model} of somebody else\n`);
  }
  mkdirSync(join(nvidia, 'llmapi', 'tensorrt_llm', '1'), { recursive: true });
  for (const name of ['model.py', 'helpers.py', 'model.yaml'])
    writeFileSync(join(nvidia, 'llmapi', 'tensorrt_llm', '1', name), `# theirs\n`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const refusal = (changes: Partial<RepositoryOptions>): string => {
  try {
    planRepository({ ...options, ...changes });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return `${error.message.replaceAll(dir, '')}${error.hint === undefined ? ' and no next step' : ''}`;
  }
  return 'accepted';
};

const configsOf = (changes: Partial<RepositoryOptions>): ReadonlyMap<string, string> =>
  new Map(
    [...planRepository({ ...options, ...changes }).files].flatMap(([path, content]) =>
      content.kind === 'text' ? [[path, content.text.replaceAll(dir, '/somewhere').replaceAll(TINY_CHECKPOINT, '/tokenizer')]] : [],
    ),
  );

describe.each([
  ['inflight, two GPUs', 'inflight', {}],
  ['V1 of 0.19', 'v1', { form: 'v1', release: '0.19' }],
  ['the LLM API', 'llmapi', { form: 'llmapi', engine: TINY_CHECKPOINT }],
  ['orchestrator, 0.14', 'orchestrator-0.14', { parallel: 'orchestrator', release: '0.14', backend: 'python' }],
] as const)('%s', (_name, sample, changes) => {
  test('is what its sample shows', async () => {
    for (const [path, text] of configsOf(changes)) {
      await expect(text).toMatchFileSnapshot(`./samples/${sample}/${path.replace(/\/(1\/)?/, '.')}.txt`);
    }
  });

  test('reads as protobuf text, with no placeholder outside of parameters', () => {
    for (const [path, text] of configsOf(changes)) {
      if (!path.endsWith('.pbtxt')) continue;
      const config = parseModelConfig(text, path);
      expect({ ...config, parameters: {} }).not.toMatchObject({ name: expect.stringContaining('$') });
      expect(config.dynamic_batching).toBeUndefined();
      expect(config.instance_group.map(({ count, kind }) => [count, kind])).toEqual(
        config.platform === 'ensemble' ? [] : [[1, 'KIND_CPU']],
      );
    }
  });
});

/**
 * First digits of the SHA-256 of what upstream's configurations of each release declare: inputs, outputs, parameters, steps.
 * Made from triton-inference-server/tensorrtllm_backend at the tags v0.14.0, v0.15.0, v0.16.0, v0.17.0, v0.18.2, v0.19.0.
 */
const UPSTREAM: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.14': {
    preprocessing: '9146a352d123',
    tensorrt_llm: 'db1674fc30ec',
    postprocessing: '8ccc9dea7ce2',
    ensemble: '363ed2bca252',
    tensorrt_llm_bls: 'f02f79f41868',
  },
  '0.15': {
    preprocessing: '4f8eb85a5dbb',
    tensorrt_llm: 'ec48aaef0ec5',
    postprocessing: '8ccc9dea7ce2',
    ensemble: 'ec8310a9f60e',
    tensorrt_llm_bls: '6260527e09cb',
  },
  '0.16': {
    preprocessing: '8752c1240c3b',
    tensorrt_llm: '49f6c17e0a99',
    postprocessing: '8ccc9dea7ce2',
    ensemble: '29eb93010be6',
    tensorrt_llm_bls: '81090bbb8fe7',
  },
  '0.17': {
    preprocessing: '8752c1240c3b',
    tensorrt_llm: 'b46d2fb81409',
    postprocessing: '8ccc9dea7ce2',
    ensemble: '29eb93010be6',
    tensorrt_llm_bls: '81090bbb8fe7',
  },
  '0.18': {
    preprocessing: '8752c1240c3b',
    tensorrt_llm: 'b46d2fb81409',
    postprocessing: '8ccc9dea7ce2',
    ensemble: '29eb93010be6',
    tensorrt_llm_bls: '81090bbb8fe7',
  },
  '0.19': {
    preprocessing: 'e7f6b8682b2d',
    tensorrt_llm: '53782a6bdfe0',
    postprocessing: '8ccc9dea7ce2',
    ensemble: 'cea2d518713d',
    tensorrt_llm_bls: '29eab47ac6e0',
    llmapi: '3aec28012522',
  },
};

test.each(Object.keys(UPSTREAM))('tensors, parameters and steps of %s are upstream’s, name by name', (id) => {
  const release = REPOSITORY_RELEASES.find((one) => one.id === id)!;
  const value = (text: string) => ({ value: text });
  const filling = {
    release,
    vision: true,
    title: '',
    more: {},
    values: {
      ...Object.fromEntries(
        ['preprocessing_instance_count', 'postprocessing_instance_count', 'bls_instance_count', 'triton_max_batch_size'].map((name) => [
          name,
          value('8'),
        ]),
      ),
      triton_backend: value('tensorrtllm'),
      decoupled_mode: value('true'),
      logits_datatype: value('TYPE_FP32'),
      encoder_input_features_data_type: value('TYPE_FP16'),
      prompt_embedding_table_data_type: value('TYPE_FP16'),
      tensorrt_llm_model_name: value('tensorrt_llm'),
    },
  };
  const models = [...stockModels(filling), ...(release.llmapi.value ? [{ ...llmapiModel(filling), name: 'llmapi' }] : [])];
  expect(
    Object.fromEntries(models.map((model) => [model.name, shortHash(declarations(parseModelConfig(configText(model), model.name)))])),
  ).toEqual(UPSTREAM[id]);
});

function declarations(config: ModelConfig): string {
  const tensors = (kind: 'input' | 'output') =>
    config[kind].map((one) => {
      const input = one as ModelConfig['input'][number];
      const flags = `${input.optional ? ' opt' : ''}${one.reshape ? ' reshape' : ''}${input.allow_ragged_batch ? ' ragged' : ''}`;
      return `${kind} ${one.name} ${one.data_type} [${one.dims.join(',')}]${flags}`;
    });
  const steps = (config.ensemble_scheduling?.step ?? []).flatMap((step) => [
    ...Object.entries(step.input_map).map(([a, b]) => `${step.model_name} in ${a}<-${b}`),
    ...Object.entries(step.output_map).map(([a, b]) => `${step.model_name} out ${a}->${b}`),
  ]);
  const parameters = Object.entries(config.parameters).map(([key, { string_value }]) => `param ${key}=${string_value}`);
  return [...new Set([...tensors('input'), ...tensors('output'), ...parameters, ...steps])]
    .toSorted()
    .join('\n')
    .replace('tensorrt_llm_model_name=tensorrt_llm', 'tensorrt_llm_model_name=${tensorrt_llm_model_name}');
}

test.each(['preprocessing', 'tensorrt_llm', 'postprocessing', 'ensemble', 'tensorrt_llm_bls'])(
  '%s of 1.x has the tensors of the model that real servers were seen to serve',
  (model) => {
    const made = parseModelConfig(configsOf({ backend: 'cpu', engine: TINY_CHECKPOINT }).get(`${model}/config.pbtxt`)!, model);
    const known = readModelConfig(join(MODEL_REPOSITORY, model, 'config.pbtxt'));
    const names = (config: ModelConfig) =>
      [...config.input, ...config.output]
        .map((one) => `${one.name} ${one.data_type} [${one.dims.join()}] ${'optional' in one && one.optional}`)
        .toSorted();
    expect(names(made)).toEqual(names(known));
    expect(made.ensemble_scheduling?.step.map((one) => [one.input_map, one.output_map])).toEqual(
      known.ensemble_scheduling?.step.map((one) => [one.input_map, one.output_map]),
    );
  },
);

test('what the engine says and what is set holds over the launch profile', () => {
  const config = (changes: Partial<RepositoryOptions>) => parseModelConfig(configsOf(changes).get('tensorrt_llm/config.pbtxt')!, 'x');
  const usual = config({});
  expect([usual.backend, usual.max_batch_size, usual.model_transaction_policy]).toEqual(['tensorrtllm', 4, { decoupled: true }]);
  expect(usual.output.find(({ name }) => name === 'context_logits')?.data_type).toBe('TYPE_FP16');
  expect(usual.parameters).toMatchObject({
    gpt_model_path: { string_value: '/somewhere/an engine' },
    max_beam_width: { string_value: '2' },
    gpu_device_ids: { string_value: '0,1' },
    participant_ids: { string_value: '${participant_ids}' },
    enable_kv_cache_reuse: { string_value: 'false' },
  });
  const other = config({
    set: { enable_kv_cache_reuse: 'true', gpu_device_ids: '3,1', kv_cache_free_gpu_mem_fraction: '0.5' },
    parallel: 'orchestrator',
  });
  expect(other.parameters).toMatchObject({
    enable_kv_cache_reuse: { string_value: 'true' },
    gpu_device_ids: { string_value: '3,1' },
    participant_ids: { string_value: '1,2' },
    kv_cache_free_gpu_mem_fraction: { string_value: '0.5' },
  });
});

test('any text comes back out of the file as it went in', () => {
  const { comment, ...model } = llmapiModel({
    release: REPOSITORY_RELEASES.at(-1)!,
    vision: false,
    title: '',
    more: {},
    values: { triton_max_batch_size: { value: '0' }, decoupled_mode: { value: 'true' } },
  });
  fc.assert(
    fc.property(fc.string({ unit: LETTER, maxLength: 30 }), (path) => {
      const text = configText({ ...model, comment, inputs: [], outputs: [], parameters: [{ key: path, value: path }] });
      expect(parseModelConfig(text, 'x').parameters).toEqual({ [path]: { string_value: path } });
    }),
    { numRuns: 20 },
  );
});

describe('what cannot be made is refused, with what is wrong and where', () => {
  const broken = (name: string, config: object | string, ranks?: number): { readonly engine: string } => {
    const folder = join(dir, name);
    makeEngine(folder, config, ranks);
    return { engine: folder };
  };

  test.each([
    ['no folder', () => ({ engine: join(dir, 'nowhere') }), '[engine-missing] there is no folder /nowhere'],
    ['a folder without an engine', () => ({ engine: nvidia }), '[engine-missing] /all_models has no config.json, so it is no engine'],
    [
      'a Hugging Face checkpoint',
      () => ({ engine: TINY_CHECKPOINT }),
      expect.stringMatching(/^\[engine-foreign\] .*config\.json:1: is the configuration of a Hugging Face checkpoint, not of an engine$/),
    ],
    [
      'broken JSON',
      () => broken('bad json', '{\n "version": "1.1.0",\n "pretrained_config": {,}\n}'),
      expect.stringMatching(/^\[file-malformed\] \/bad json\/config\.json:3: no JSON: /),
    ],
    [
      'a wrong number',
      () => broken('bad mapping', engineConfig({}, { world_size: 'two' })),
      expect.stringMatching(
        /^\[engine-config-invalid\] \/bad mapping\/config\.json:8: pretrained_config\.mapping\.world_size: expected number, received string$/,
      ),
    ],
    [
      'ranks that do not multiply',
      () => broken('odd', engineConfig({}, { world_size: 3, tp_size: 2 })),
      '[engine-config-invalid] /odd/config.json:8: world_size 3 is no multiple of tp_size 2 × pp_size 1',
    ],
    [
      'a rank that was not copied',
      () => broken('half', engineConfig(), 1),
      '[engine-incomplete] /half: config.json speaks of 2 GPUs, and rank1.engine is missing',
    ],
    [
      'a release that is not known',
      () => broken('newer', engineConfig({ version: '0.21.0' })),
      '[release-unknown] /newer/config.json:2: the engine names TensorRT-LLM 0.21.0, whose stock repository is not known here',
    ],
    [
      'a release that nobody made',
      () => ({ release: 'latest' }),
      '[release-unknown] --release names TensorRT-LLM latest, whose stock repository is not known here',
    ],
    [
      'no tokenizer',
      () => ({ tokenizer: engine }),
      '[tokenizer-missing] /an engine has no tokenizer: none of tokenizer.json, tokenizer.model, tokenizer_config.json',
    ],
    [
      'an LLM API before there was one',
      () => ({ form: 'llmapi', engine: TINY_CHECKPOINT, release: '0.18' }),
      '[form-unavailable] TensorRT-LLM 0.18 has no model of the LLM API',
    ],
    [
      'a name that fill_template does not know',
      () => ({ set: { max_beam_witdh: '2' } }),
      '[variable-unknown] fill_template of TensorRT-LLM 1.x knows no max_beam_witdh',
    ],
    [
      'a delay without batching',
      () => ({ set: { max_queue_delay_microseconds: '5' } }),
      '[variable-unknown] max_queue_delay_microseconds belongs to the block dynamic_batching, which the launch profile leaves out',
    ],
    [
      'too few GPUs',
      () => ({ set: { gpu_device_ids: '0' } }),
      '[gpus-mismatch] gpu_device_ids 0 must name 2 different GPUs: the engine is built for tensor parallel 2 × pipeline parallel 1 (/an engine/config.json:7)',
    ],
    [
      'no models of NVIDIA',
      () => ({ nvidiaModels: engine }),
      "[nvidia-models-missing] /an engine has no model.py of NVIDIA's preprocessing",
    ],
  ] as const)('%s', (_name, changes, message) => {
    expect(refusal(changes() as Partial<RepositoryOptions>)).toEqual(message);
  });

  test('an engine configuration of any content is read or refused by name, never by a defect of this program', () => {
    const folder = join(dir, 'fuzzed');
    const json = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
      fc
        .record(
          {
            version: fc.anything(),
            pretrained_config: fc.oneof(fc.anything(), fc.record({ mapping: fc.anything() })),
            build_config: fc.anything(),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? 1 : one), 1) ?? ''),
      fc.string(),
    );
    fc.assert(
      fc.property(json, (text) => {
        makeEngine(folder, text, 1);
        expect(refusal({ engine: folder })).toMatch(
          /^(accepted|\[engine-incomplete\] \/fuzzed: .*|\[(engine-\w+|engine-config-invalid|file-malformed|release-unknown|gpus-mismatch)\] .*\/fuzzed\/config\.json:\d+.*)$/s,
        );
      }),
      { numRuns: 40 },
    );
  });
});

describe('on the disk', () => {
  test('models of NVIDIA are copied from where they are, with nothing that belongs to them alone', () => {
    const output = join(dir, 'out of a space');
    writeRepository(planRepository({ ...options, form: 'llmapi', engine: TINY_CHECKPOINT }).files, output);
    expect(readdirSync(join(output, 'tensorrt_llm', '1')).toSorted()).toEqual(['helpers.py', 'model.py', 'model.yaml']);
    expect(readFileSync(join(output, 'tensorrt_llm', '1', 'model.yaml'), 'utf8')).toContain(`model: ${TINY_CHECKPOINT}`);
    const second = join(dir, 'inflight');
    writeRepository(planRepository(options).files, second);
    expect(readdirSync(second, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
      'ensemble',
      'ensemble/1',
      'ensemble/1/.keep',
      'ensemble/config.pbtxt',
      'postprocessing',
      'postprocessing/1',
      'postprocessing/1/model.py',
      'postprocessing/config.pbtxt',
      'preprocessing',
      'preprocessing/1',
      'preprocessing/1/model.py',
      'preprocessing/config.pbtxt',
      'tensorrt_llm',
      'tensorrt_llm/1',
      'tensorrt_llm/1/.keep',
      'tensorrt_llm/config.pbtxt',
      'tensorrt_llm_bls',
      'tensorrt_llm_bls/1',
      'tensorrt_llm_bls/1/model.py',
      'tensorrt_llm_bls/config.pbtxt',
    ]);
    expect(readFileSync(join(second, 'preprocessing', '1', 'model.py'), 'utf8')).toBe('# preprocessing of somebody else\n');
  });

  test('links are followed: an engine and models behind one are found, and files are copied, not links', () => {
    const links = join(dir, 'links');
    mkdirSync(links);
    symlinkSync(engine, join(links, 'engine'));
    symlinkSync(nvidia, join(links, 'models'));
    const output = join(links, 'out');
    writeRepository(planRepository({ ...options, engine: join(links, 'engine'), nvidiaModels: join(links, 'models') }).files, output);
    rmSync(join(links, 'models'));
    expect(readFileSync(join(output, 'tensorrt_llm_bls', '1', 'model.py'), 'utf8')).toBe('# tensorrt_llm_bls of somebody else\n');
  });

  test('what is there already stays, and nothing is left of a write that failed', () => {
    const { files } = planRepository(options);
    expect(() => writeRepository(files, engine)).toThrow(expect.objectContaining({ code: 'output-exists' }));
    expect(() => writeRepository(files, '/proc/nope/models')).toThrow(
      expect.objectContaining({ code: 'file-not-writable', hint: expect.stringContaining('nothing was changed') }),
    );
    expect(() => writeRepository(files, join(engine, 'config.json', 'models'))).toThrow(
      expect.objectContaining({ code: 'file-not-writable' }),
    );
    const gone = join(dir, 'gone');
    cpSync(nvidia, gone, { recursive: true });
    const planned = planRepository({ ...options, nvidiaModels: gone });
    rmSync(gone, { recursive: true });
    expect(() => writeRepository(planned.files, join(dir, 'half made'))).toThrow(expect.objectContaining({ code: 'file-not-writable' }));
    expect(readdirSync(dir).filter((name) => name.includes('half made'))).toEqual([]);
  });
});

const PYTHON = join(import.meta.dirname, '../../../.cache/clients/libraries/venv/bin/python');

// Only where the official clients are laid out already (npm run test:clients): protobuf's own text parser on NVIDIA's own message.
test.skipIf(!existsSync(PYTHON))('protobuf itself reads every file, and sees what this parser sees', () => {
  const output = join(dir, 'for protobuf');
  writeRepository(planRepository(options).files, output);
  const program = [
    'import sys, json, pathlib',
    'from google.protobuf import text_format, json_format',
    'from tritonclient.grpc import model_config_pb2',
    'for f in sorted(pathlib.Path(sys.argv[1]).rglob("config.pbtxt")):',
    '    m = text_format.Parse(f.read_text(), model_config_pb2.ModelConfig())',
    '    print(json.dumps([m.name, len(m.input), len(m.output), sorted(m.parameters), [[i.name, list(i.dims), i.optional] for i in m.input]]))',
  ].join('\n');
  const seen = execFileSync(PYTHON, ['-c', program, output], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const ours = readdirSync(output)
    .toSorted()
    .map((model) => {
      const config = readModelConfig(join(output, model, 'config.pbtxt'));
      return [
        config.name,
        config.input.length,
        config.output.length,
        Object.keys(config.parameters).toSorted(),
        config.input.map((one) => [one.name, one.dims, one.optional]),
      ];
    });
  expect(seen).toEqual(ours);
});
