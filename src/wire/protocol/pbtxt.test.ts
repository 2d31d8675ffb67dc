import { expect, test } from 'vitest';
import { parseConfigJson } from './config-json.ts';
import { datatypeOf } from './model-config.ts';
import { normaliseConfig } from './normalise-config.ts';
import { parseModelConfig } from './pbtxt.ts';

const TEXT = `
# a comment
name: "echo"
backend: "python"
max_batch_size: 4
input [ { name: "X" data_type: TYPE_STRING dims: [ -1, 2 ] reshape { shape: [ ] } optional: true } ]
output { name: "Y" data_type: TYPE_INT32 dims: 1 }
dynamic_batching { max_queue_delay_microseconds: 100 }
instance_group [ { count: 2 } ]
parameters: { key: "p" value: { string_value: "v" } }
`;

test('text becomes the JSON form with defaults, unset sub-messages absent', () => {
  expect(parseModelConfig(TEXT, 'echo/config.pbtxt')).toEqual({
    name: 'echo',
    platform: '',
    backend: 'python',
    runtime: '',
    max_batch_size: 4,
    input: [
      {
        name: 'X',
        data_type: 'TYPE_STRING',
        format: 'FORMAT_NONE',
        dims: [-1, 2],
        reshape: { shape: [] },
        is_shape_tensor: false,
        allow_ragged_batch: false,
        optional: true,
        is_non_linear_format_io: false,
      },
    ],
    output: [{ name: 'Y', data_type: 'TYPE_INT32', dims: [1], label_filename: '', is_shape_tensor: false, is_non_linear_format_io: false }],
    batch_input: [],
    batch_output: [],
    dynamic_batching: {
      preferred_batch_size: [],
      max_queue_delay_microseconds: 100,
      preserve_ordering: false,
      priority_levels: 0,
      default_priority_level: 0,
      priority_queue_policy: {},
    },
    instance_group: [
      { name: '', kind: 'KIND_AUTO', count: 2, gpus: [], secondary_devices: [], profile: [], passive: false, host_policy: '' },
    ],
    default_model_filename: '',
    cc_model_filenames: {},
    metric_tags: {},
    parameters: { p: { string_value: 'v' } },
    model_warmup: [],
  });
});

test('the server fills in policy, preferred batch size, groups, pinned memory and file name, in print order', () => {
  const config = normaliseConfig(parseModelConfig(TEXT, 'echo/config.pbtxt'));
  expect(config).toMatchObject({
    version_policy: { latest: { num_versions: 1 } },
    dynamic_batching: { preferred_batch_size: [4] },
    instance_group: [{ name: 'echo_0', kind: 'KIND_CPU', count: 2 }],
    optimization: { priority: 'PRIORITY_DEFAULT', input_pinned_memory: { enable: true }, output_pinned_memory: { enable: true } },
    default_model_filename: 'model.py',
  });
  expect(Object.keys(config).slice(0, 6)).toEqual(['name', 'platform', 'backend', 'runtime', 'version_policy', 'max_batch_size']);
});

test.each([
  ['an unknown field', 'name: "x"\ninput { nam: "b" }\n', /^\[config-malformed\] m\/config\.pbtxt:2: .*unknown field 'nam'/],
  [
    'an unknown enum value',
    'name: "x"\ninput { name: "b"\n data_type: TYPE_FOO }\n',
    /^\[config-malformed\] m\/config\.pbtxt:3: .*data_type/,
  ],
  ['an unfilled template', 'name: "x"\ninput { name: ${foo} }\n', /^\[config-malformed\] m\/config\.pbtxt:2: /],
])('%s is reported with file and line', (_name, text, message) => {
  expect(() => parseModelConfig(text, 'm/config.pbtxt')).toThrow(message);
});

test('a JSON config is read like the text, and unknown keys are refused', () => {
  expect(parseConfigJson('{"name":"echo","input":[{"name":"X","data_type":"TYPE_INT64","dims":["3"]}]}').input).toMatchObject([
    { data_type: 'TYPE_INT64', dims: [3] },
  ]);
  expect(() => parseConfigJson('{"nam":"echo"}')).toThrow(/config has no field "nam"/);
});

test('TYPE_STRING is BYTES on the wire', () => {
  expect([datatypeOf('TYPE_STRING'), datatypeOf('TYPE_FP32')]).toEqual(['BYTES', 'FP32']);
});
