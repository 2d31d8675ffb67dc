import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { LETTER } from '#core/testing/letters.ts';
import { LockstepError } from '#core/errors/index.ts';
import { parseModelConfig } from '#wire/protocol/pbtxt.ts';
import { auditRepository, type Finding, patchOf, planRepository, writeRepository } from '../index.ts';
import type { Edit } from '../knobs/index.ts';
import { editConfig, setInYaml } from './fix.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep audit ')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** As a team has it after fill_template: the stock files, two of the settings of its own, comments of its own. */
const ENGINE = `# Our engine. Ask before you change this.
name: "tensorrt_llm"
backend: "tensorrtllm"
max_batch_size: 64

dynamic_batching {
    preferred_batch_size: [ 64 ]
    max_queue_delay_microseconds: 1000  # latency
}
input [ { name: "input_lengths" data_type: TYPE_INT32 dims: [ 1 ] } ]
instance_group [
  {
    count: 1
    kind : KIND_CPU
  }
]
parameters: {
  key: "gpt_model_type"
  value: { string_value: "inflight_fused_batching" }
}
# reuse pays for the system prompt
parameters: {
  key: "enable_kv_cache_reuse"
  value: { string_value: "\${enable_kv_cache_reuse}" }
}
parameters: {
  key: "batch_scheduler_policy"
  value: {
    string_value: "max_utilization"
  }
}
parameters { key: "gpt_model_path" value { string_value: "../../engine" } }`;

const POSTPROCESSING = `name: "postprocessing"
backend: "python"
max_batch_size: 64
dynamic_batching {}
input [ { name: "TOKENS_BATCH" data_type: TYPE_INT32 dims: [ -1, -1 ] } ]
output [ { name: "OUTPUT" data_type: TYPE_STRING dims: [ -1 ] } ]
instance_group [ { count: 4, kind: KIND_CPU }, { count: 1 } ] # one per core
response_cache { enable: true }
`;

const LLMAPI = `name: "tensorrt_llm"
backend: "python"
input [ { name: "text_input" data_type: TYPE_STRING dims: [ -1 ] }, { name: "sampling_param_max_tokens" data_type: TYPE_INT32 dims: [ 1 ] optional: true } ]
output [ { name: "text_output" data_type: TYPE_STRING dims: [ -1 ] } ]
instance_group [ { count: 1, kind: KIND_CPU } ]
`;

const YAML = `# the model that everybody uses
model: "/llama"   # FP8
backend: 'pytorch'
tensor_parallel_size: 2
kv_cache_config:
    free_gpu_memory_fraction: 0.9  # all of it
enable_chunked_prefill: true
`;

function write(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name, path)), { recursive: true });
    writeFileSync(join(dir, name, path), text);
  }
  return join(dir, name);
}

const stock = () => {
  write('engine', {
    'config.json':
      '{\n  "version": "0.19.0",\n  "pretrained_config": {},\n  "build_config": {\n    "plugin_config": {\n      "multiple_profiles": true\n    }\n  }\n}',
  });
  return write('models', { 'tensorrt_llm/config.pbtxt': ENGINE, 'postprocessing/config.pbtxt': POSTPROCESSING });
};

const line = ({ knob, level, found, where }: Finding): string =>
  `${'file' in where ? `${relative(dir, where.file)}:${where.line}` : where.url} ${level} ${knob.id}: ${found}`;

test('each knob is found in its line, with the value that is in force', () => {
  expect(auditRepository(stock(), undefined).findings.map(line)).toEqual([
    'models/postprocessing/config.pbtxt:4 error dynamic-batching: present',
    'models/postprocessing/config.pbtxt:4 error chunk-order: false',
    'models/postprocessing/config.pbtxt:7 error instances: count 4',
    'models/postprocessing/config.pbtxt:7 error instances: group 2 of 2',
    'models/postprocessing/config.pbtxt:8 error response-cache: true',
    'models/tensorrt_llm/config.pbtxt:2 warning multi-block-mode: unset, and 0.19 then has true',
    'models/tensorrt_llm/config.pbtxt:4 note max-batch-size: 64',
    'models/tensorrt_llm/config.pbtxt:6 error dynamic-batching: present',
    'models/tensorrt_llm/config.pbtxt:8 warning queue-delay: 1000',
    'models/tensorrt_llm/config.pbtxt:19 note inflight-batching: inflight_fused_batching',
    'models/tensorrt_llm/config.pbtxt:24 warning kv-cache-reuse: unset, and 0.19 then has true',
    'models/tensorrt_llm/config.pbtxt:29 warning scheduler-policy: max_utilization',
    'engine/config.json:6 error multiple-profiles: true',
  ]);
});

test('what is unset is judged by the release', () => {
  const of = (release: string) => auditRepository(stock(), release).findings.map(({ knob }) => knob.id);
  expect(of('0.18')).not.toContain('kv-cache-reuse');
  expect(of('1.1')).toContain('kv-cache-reuse');
});

test('the settings of the LLM API are read where they stand', () => {
  const folder = write('llmapi', { 'tensorrt_llm/config.pbtxt': LLMAPI, 'tensorrt_llm/1/model.yaml': YAML });
  expect(auditRepository(folder, undefined).findings.map(line)).toEqual([
    'llmapi/tensorrt_llm/1/model.yaml:2 warning llmapi-overlap: unset, and 1.x then has false',
    'llmapi/tensorrt_llm/1/model.yaml:2 warning llmapi-autotuner: unset, and 1.x then has true',
    'llmapi/tensorrt_llm/1/model.yaml:5 warning llmapi-block-reuse: unset, and 1.x then has true',
    'llmapi/tensorrt_llm/1/model.yaml:7 warning llmapi-chunked-prefill: true',
    'llmapi/tensorrt_llm/1/model.yaml:2 warning llmapi-cuda-graphs: unset, and 1.x then has "graphs on"',
    'llmapi/tensorrt_llm/1/model.yaml:2 warning llmapi-allreduce: unset, and 1.x then has "AUTO"',
    'llmapi/tensorrt_llm/1/model.yaml:4 note llmapi-parallel-layout: 2',
  ]);
});

test.each(['inflight', 'v1', 'llmapi'] as const)('a made repository (%s) has nothing but notes', (form) => {
  const output = join(dir, `made ${form}`);
  const options = { form, backend: 'cpu', release: undefined, nvidiaModels: undefined, parallel: 'leader', set: {} } as const;
  writeRepository(planRepository({ ...options, engine: TINY_CHECKPOINT, tokenizer: TINY_CHECKPOINT }).files, output);
  expect(auditRepository(output, undefined).findings.filter(({ level }) => level !== 'note')).toEqual([]);
});

describe('--fix', () => {
  test('is a patch that changes these lines and no others', async () => {
    const folder = stock();
    const patch = patchOf(auditRepository(folder, undefined).findings, (file) => relative(dir, file));
    await expect(patch).toMatchFileSnapshot('../samples/fix.diff.txt');
  });

  test('applies, and nothing that it can mend is left', () => {
    const folder = join(dir, 'patched');
    cpSync(stock(), folder, { recursive: true });
    cpSync(write('llmapi 2', { 'tensorrt_llm/config.pbtxt': LLMAPI, 'tensorrt_llm/1/model.yaml': YAML }), join(folder, 'llm'), {
      recursive: true,
    });
    cpSync(join(folder, 'llm', 'tensorrt_llm'), join(folder, 'llmapi'), { recursive: true });
    const patch = patchOf(auditRepository(folder, '1.x').findings, (file) => relative(folder, file));
    for (const one of parsePatch(patch)) {
      const file = join(folder, one.oldFileName ?? '');
      const after = applyPatch(readFileSync(file, 'utf8'), one);
      expect(after).not.toBe(false);
      writeFileSync(file, String(after));
    }
    expect(auditRepository(folder, '1.x').findings.filter(({ fix }) => fix !== undefined)).toEqual([]);
    expect(readFileSync(join(folder, 'llmapi', '1', 'model.yaml'), 'utf8')).toBe(`# the model that everybody uses
model: "/llama"   # FP8
backend: 'pytorch'
tensor_parallel_size: 2
kv_cache_config:
    enable_block_reuse: false
    free_gpu_memory_fraction: 0.9  # all of it
enable_chunked_prefill: false
disable_overlap_scheduler: true
enable_autotuner: false
cuda_graph_config: null
`);
  });

  test.each([
    ['an empty file', '', 'kv_cache_config:\n  enable_block_reuse: false\n'],
    ['a map in braces', 'kv_cache_config: {a: 1} # x\n', 'kv_cache_config: { enable_block_reuse: false,a: 1} # x\n'],
    ['an empty map', 'kv_cache_config: {}\n', 'kv_cache_config: { enable_block_reuse: false }\n'],
    ['no value', 'kv_cache_config:\nb: 1\n', 'kv_cache_config: { enable_block_reuse: false }\nb: 1\n'],
    ['no line end', 'a: 1', 'a: 1\nkv_cache_config:\n  enable_block_reuse: false\n'],
  ])('sets a value of YAML in %s', (_name, before, expected) => {
    const after = setInYaml(before, 'x', ['kv_cache_config', 'enable_block_reuse'], false);
    expect([after, auditYaml(after)]).toEqual([expected, false]);
  });

  test('leaves every comment and blank of any file where it was', () => {
    const edits: readonly Edit[] = [
      { kind: 'remove', path: ['dynamic_batching'] },
      { kind: 'remove', path: ['response_cache'] },
      { kind: 'remove', path: ['instance_group', 1] },
      { kind: 'scalar', path: ['instance_group', 0, 'count'], value: '1' },
      { kind: 'parameter', key: 'enable_kv_cache_reuse', value: 'false' },
    ];
    const part = fc.constantFrom(
      'dynamic_batching { max_queue_delay_microseconds: 5 }',
      'dynamic_batching: <>',
      'response_cache { enable: true };',
      'instance_group [ { count: 2 }, { count: 3, gpus: [ 0, 1 ] } ]',
      'instance_group { count: 4 }\ninstance_group { kind: KIND_CPU }',
      'parameters { key: "enable_kv_cache_reuse" value { string_value: "true" } }',
      'max_batch_size: 4,',
    );
    const gap = fc.constantFrom('\n', '\n\n', ' # mine\n', '\n  # ours { [ "\n', '\t\n');
    fc.assert(
      fc.property(
        fc.uniqueArray(part, { selector: (text) => text.split(/[ :{]/)[0], maxLength: 5 }),
        fc.array(gap, { minLength: 6, maxLength: 6 }),
        (parts, gaps) => {
          const text = ['name: "x"', ...parts].map((one, at) => one + gaps[at]).join('');
          const after = editConfig(text, edits);
          const config = parseModelConfig(after, 'x');
          expect([config.dynamic_batching, config.response_cache, config.instance_group.length > 1]).toEqual([undefined, undefined, false]);
          expect(config.instance_group.every(({ count }) => count <= 1)).toBe(true);
          expect(config.parameters['enable_kv_cache_reuse']).toEqual({ string_value: 'false' });
          expect(after.match(/#.*/g) ?? []).toEqual(text.match(/#.*/g) ?? []);
          expect(editConfig(after, edits)).toBe(after);
        },
      ),
      { numRuns: 50 },
    );
  });
});

function auditYaml(text: string): unknown {
  const folder = write('yaml', { 'm/config.pbtxt': LLMAPI, 'm/1/model.yaml': text });
  return auditRepository(folder, undefined).findings.some(({ knob }) => knob.id === 'llmapi-block-reuse');
}

describe('what cannot be read is refused with file and line', () => {
  const refusal = (folder: string): string => {
    try {
      auditRepository(folder, undefined);
    } catch (thrown) {
      const error = LockstepError.from(thrown);
      return `${error.message.replaceAll(dir, '')}${error.hint === undefined ? ' and no next step' : ''}`;
    }
    return 'accepted';
  };

  test.each([
    ['no folder', () => join(dir, 'nowhere'), '[repository-missing] there is no folder /nowhere'],
    ['a file', () => join(write('a', { f: '' }), 'f'), '[repository-missing] /a/f is a file, not a model repository'],
    [
      'a folder without models',
      () => write('b', { 'readme.md': '' }),
      '[repository-missing] /b has no model: no folder in it has a config.pbtxt',
    ],
    [
      'a template',
      () => write('c d', { 'm/config.pbtxt': 'name: "m"\nmax_batch_size: ${triton_max_batch_size}\n' }),
      '[config-malformed] /c d/m/config.pbtxt:2: max_batch_size: integer value expected; got ${triton_max_batch_size}',
    ],
    ['another language', () => write('e', { 'm/config.pbtxt': '{\n "name": "m"\n}' }), /^\[config-malformed\] \/e\/m\/config\.pbtxt:1: /],
    [
      'a folder in place of the file',
      () => write('g', { 'm/config.pbtxt/x': '' }),
      /^\[config-missing\] cannot read \/g\/m\/config\.pbtxt: /,
    ],
    [
      'broken YAML',
      () => write('h', { 'm/config.pbtxt': LLMAPI, 'm/1/model.yaml': 'a: 1\nb: [\n' }),
      /^\[file-malformed\] \/h\/m\/1\/model\.yaml:\d: no YAML: /,
    ],
    [
      'a broken engine',
      () => write('i', { 'tensorrt_llm/config.pbtxt': ENGINE, '../engine/config.json': '{\n' }),
      /^\[file-malformed\] \/engine\/config\.json:2: no JSON: /,
    ],
  ])('%s', (_name, make, message) => {
    const text = refusal(make());
    expect(typeof message === 'string' ? text === message : message.test(text), text).toBe(true);
  });

  test('a repository behind a link is read', () => {
    symlinkSync(stock(), join(dir, 'link'));
    expect(auditRepository(join(dir, 'link'), undefined).findings.length).toBeGreaterThan(10);
  });

  test('text of any kind is read or refused, never by a defect of this program', () => {
    const token = fc.constantFrom(
      'name',
      ':',
      '"x"',
      '{',
      '}',
      '[',
      ']',
      ',',
      '\n',
      '#',
      '"',
      '-',
      '1',
      'instance_group',
      'count',
      'parameters',
      'key',
      'value',
      'string_value',
      'max_batch_size',
      'dynamic_batching',
      '${x}',
      '\\',
      '<',
      '>',
      'KIND_CPU',
      'kind',
      '\u00e9',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: LETTER }),
          fc.array(token, { maxLength: 20 }).map((words) => words.join(' ')),
        ),
        (text) => {
          expect(refusal(write('fuzz', { 'm/config.pbtxt': text }))).toMatch(
            /^(accepted|\[config-malformed\] \/fuzz\/m\/config\.pbtxt:\d+: [^\n]*)$/,
          );
        },
      ),
      { numRuns: 80 },
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: LETTER }), fc.stringMatching(/^[a-c&*:\-[\]{}!|>"' \n?,#%@]{0,30}$/)), (text) => {
        expect(refusal(write('fuzz yaml', { 'm/config.pbtxt': LLMAPI, 'm/1/model.yaml': text }))).toMatch(
          /^(accepted|\[file-malformed\] \/fuzz yaml\/m\/1\/model\.yaml:\d+: no YAML: [^\n]*)$/,
        );
      }),
      { numRuns: 60 },
    );
  });
});
