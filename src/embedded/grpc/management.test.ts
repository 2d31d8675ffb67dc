import { rmSync, writeFileSync } from 'node:fs';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GrpcHealthClient } from '#wire/protocol/service.ts';
import { ensemble, GrpcLab, inferMessage, postprocessing, preprocessing, raw, stream } from './testing.ts';

let lab: GrpcLab;
beforeAll(async () => {
  lab = await GrpcLab.start();
});
afterAll(() => lab[Symbol.asyncDispose]());

test('server and model state', async () => {
  expect(await lab.call('ServerLive', {})).toEqual({ live: true });
  expect(await lab.call('ServerReady', {})).toEqual({ ready: true });
  expect(await lab.call('ServerMetadata', {})).toMatchObject({ name: 'triton', version: '2.51.0' });
  expect(await lab.call('ModelReady', { name: 'nope' })).toEqual({ ready: false });
  expect(await lab.call('ModelReady', { name: 'ensemble', version: 'abc' })).toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('the health service follows readiness', async () => {
  const client: any = new GrpcHealthClient(lab.client.getChannel().getTarget().replace(/^dns:/, ''), credentials.createInsecure());
  const reply = await new Promise((resolve) => client.Check({}, (_e: unknown, r: unknown) => resolve(r)));
  expect(reply).toEqual({ status: 'SERVING' });
  client.close();
});

test('metadata has a leading batch dimension and the back end as platform', async () => {
  const { inputs, ...rest } = await lab.call('ModelMetadata', { name: 'tensorrt_llm' });
  expect(rest).toMatchObject({ name: 'tensorrt_llm', versions: ['1'], platform: 'python' });
  expect(inputs).toContainEqual({ name: 'stop_words_list', datatype: 'INT32', shape: ['-1', '2', '-1'] });
});

test('config as a real core prints it', async () => {
  expect((await lab.call('ModelConfig', { name: 'tensorrt_llm' })).config).toMatchObject({
    version_policy: { latest: { num_versions: 1 } },
    instance_group: [{ name: 'tensorrt_llm_0', kind: 'KIND_CPU', count: 1 }],
    default_model_filename: 'model.py',
    model_transaction_policy: { decoupled: true },
  });
  expect((await lab.call('ModelConfig', { name: 'ensemble' })).config).toMatchObject({
    platform: 'ensemble',
    instance_group: [],
    optimization: null,
  });
});

test('statistics count requests as a real core does', async () => {
  const counts = async () => {
    const { model_stats } = await lab.call('ModelStatistics', {});
    return Object.fromEntries(
      model_stats.map((s: any) => [
        s.name,
        [s.inference_count, s.execution_count, s.inference_stats.success.count, s.inference_stats.fail.count].map(Number),
      ]),
    );
  };
  const change = async (work: () => Promise<unknown>) => {
    const before = await counts();
    await work();
    const after = await counts();
    return Object.fromEntries(Object.keys(after).map((m) => [m, after[m].map((n: number, i: number) => n - before[m][i]).join()]));
  };
  // inference_count, execution_count, success, fail: observed on 2.51 with the same requests.
  expect(await change(() => lab.stream(ensemble('x', 3, [stream])))).toMatchObject({
    ensemble: '1,1,1,0',
    preprocessing: '1,1,1,0',
    tensorrt_llm: '1,1,1,0',
    postprocessing: '3,3,3,0',
  });
  expect(await change(() => lab.stream(ensemble('x', 0)))).toMatchObject({
    ensemble: '0,0,0,2',
    preprocessing: '1,1,1,0',
    tensorrt_llm: '1,1,1,0',
    postprocessing: '0,0,0,0',
  });
  expect(await change(() => lab.call('ModelInfer', inferMessage(preprocessing([Uint8Array.of(0xff)]))))).toMatchObject({
    ensemble: '0,0,0,0',
    preprocessing: '0,1,0,1',
    tensorrt_llm: '0,0,0,0',
    postprocessing: '0,0,0,0',
  });
  expect(await change(() => lab.call('ModelInfer', inferMessage(preprocessing(['a', 'b', 'c']))))).toMatchObject({
    preprocessing: '3,1,1,0',
  });
  expect(await change(() => lab.stream({ model: 'ensemble', inputs: [] }))).toMatchObject({ ensemble: '0,0,0,0' });
  expect(await change(() => lab.stream(ensemble('x', 2, [stream], { outputs: ['cum_log_probs'] })))).toMatchObject({
    ensemble: '1,1,1,0',
    postprocessing: '0,0,0,0',
  });
  expect(await lab.call('ModelStatistics', { name: 'nope' })).toEqual({
    code: 'INVALID_ARGUMENT',
    details: "requested model 'nope' is not available",
  });
});

test('unload and load: index, texts, and ensembles follow their steps', async () => {
  const index = async () =>
    Object.fromEntries(
      (await lab.call('RepositoryIndex', {})).models.map((m: any) => [m.name, `${m.version} ${m.state} ${m.reason}`.trim()]),
    );
  expect(await lab.call('RepositoryModelUnload', { model_name: 'postprocessing' })).toEqual({});
  expect(await index()).toMatchObject({
    ensemble: '1 UNAVAILABLE unloaded',
    postprocessing: '1 UNAVAILABLE unloaded',
    preprocessing: '1 READY',
    tensorrt_llm: '1 READY',
  });
  expect(await lab.stream(ensemble('x', 1))).toMatchObject([{ error: "Request for unknown model: 'ensemble' has no available versions" }]);
  expect(await lab.call('RepositoryModelLoad', { model_name: 'postprocessing' })).toEqual({});
  expect(await index()).toMatchObject({ ensemble: '1 READY', postprocessing: '1 READY' });
  expect(await lab.call('RepositoryModelLoad', { model_name: 'nope' })).toEqual({
    code: 'INTERNAL',
    details: "failed to load 'nope', failed to poll from model repository",
  });
  expect(await lab.call('RepositoryModelUnload', { model_name: 'nope' })).toEqual({});
  expect(await lab.call('RepositoryIndex', { repository_name: 'x' })).toMatchObject({ code: 'UNIMPLEMENTED' });
});

test('a stream in flight survives the unload of its model', async () => {
  const call = lab.open();
  call.write(inferMessage(raw([5], 300, [])));
  call.end();
  await lab.call('RepositoryModelUnload', { model_name: 'tensorrt_llm' });
  let messages = 0;
  for await (const _ of call) messages++;
  await lab.call('RepositoryModelLoad', { model_name: 'tensorrt_llm' });
  expect(messages).toBe(1);
});

test('a config override takes effect; a wrong one leaves the old model serving', async () => {
  const { config } = await lab.call('ModelConfig', { name: 'postprocessing' });
  const input = config.input.map(({ name, data_type, dims }: any) => ({ name, data_type, dims: dims.map(Number) }));
  const output = config.output.map(({ name, data_type, dims }: any) => ({ name, data_type, dims: dims.map(Number) }));
  const own = {
    name: 'postprocessing',
    backend: 'python',
    max_batch_size: 8,
    input,
    output,
    parameters: { ...config.parameters, skip_special_tokens: { string_value: 'false' } },
  };
  const load = (value: object) =>
    lab.call('RepositoryModelLoad', { model_name: 'postprocessing', parameters: { config: { string_param: JSON.stringify(value) } } });
  expect(await load(own)).toEqual({});
  const reply = await lab.call('ModelInfer', inferMessage(postprocessing([1, 1, 1], [1], [1, 1], [1])));
  expect(reply.raw_output_contents[0].subarray(4).toString()).toBe('<|eos|>');
  expect(await load({ ...own, foo: 1 })).toEqual({
    code: 'INTERNAL',
    details: "failed to load 'postprocessing', failed to poll from model repository",
  });
  expect(await load({ ...own, backend: 'nope' })).toMatchObject({
    code: 'INVALID_ARGUMENT',
    details: expect.stringMatching(
      /^load failed for model 'postprocessing': version 1 is at UNAVAILABLE state: Invalid argument: unable to find backend library for backend 'nope'/,
    ),
  });
  expect(await lab.call('ModelReady', { name: 'postprocessing' })).toEqual({ ready: true });
});

test('system shared memory carries inputs and outputs', async () => {
  const key = `/lockstep-grpc-test-${process.pid}`;
  writeFileSync(`/dev/shm${key}`, Buffer.from(Int32Array.of(7, 8, 9).buffer));
  try {
    const register = () => lab.call('SystemSharedMemoryRegister', { name: 'rg', key, offset: 0, byte_size: 12 });
    expect(await register()).toEqual({});
    expect(await register()).toEqual({ code: 'ALREADY_EXISTS', details: "shared memory region 'rg' already in manager" });
    expect((await lab.call('SystemSharedMemoryStatus', {})).regions).toEqual({ rg: { name: 'rg', key, offset: '0', byte_size: '12' } });
    const at = (region: string, offset: number, size: number) => ({
      shared_memory_region: { string_param: region },
      shared_memory_offset: { int64_param: offset },
      shared_memory_byte_size: { int64_param: size },
    });
    const infer = (parameters: object, outputs: object[] = []) =>
      lab.call('ModelInfer', {
        model_name: 'preprocessing',
        inputs: [
          { name: 'QUERY', datatype: 'BYTES', shape: [1, 1] },
          { name: 'REQUEST_OUTPUT_LEN', datatype: 'INT32', shape: [1, 1], parameters },
        ],
        raw_input_contents: [Buffer.from([1, 0, 0, 0, 65])],
        outputs,
      });
    const reply = await infer(at('rg', 4, 4), [{ name: 'REQUEST_OUTPUT_LEN', parameters: at('rg', 8, 4) }]);
    expect(reply.raw_output_contents).toEqual([Buffer.alloc(0)]);
    expect(reply.outputs[0].parameters).toEqual({});
    expect([...lab.core.sharedMemory.read('rg', 8, 4)]).toEqual([8, 0, 0, 0]);
    expect(await infer(at('rg', 12, 4))).toEqual({ code: 'INVALID_ARGUMENT', details: "Invalid offset for shared memory region: 'rg'" });
    expect(await infer(at('zz', 0, 4))).toEqual({ code: 'NOT_FOUND', details: "Unable to find shared memory region: 'zz'" });
    expect(await lab.call('SystemSharedMemoryUnregister', { name: '' })).toEqual({});
    expect((await lab.call('SystemSharedMemoryStatus', {})).regions).toEqual({});
  } finally {
    rmSync(`/dev/shm${key}`);
  }
});

test('CUDA shared memory, trace and log settings', async () => {
  expect((await lab.call('CudaSharedMemoryStatus', {})).regions).toEqual({});
  expect(await lab.call('CudaSharedMemoryRegister', { name: 'c', raw_handle: Buffer.alloc(64), byte_size: 4 })).toEqual({
    code: 'INVALID_ARGUMENT',
    details: 'failed to register shared memory region: invalid args',
  });
  expect((await lab.call('TraceSetting', {})).settings).toEqual({
    trace_level: { value: ['OFF'] },
    trace_rate: { value: ['1000'] },
    trace_count: { value: ['-1'] },
    log_frequency: { value: ['0'] },
    trace_file: { value: [''] },
    trace_mode: { value: ['triton'] },
  });
  expect(await lab.call('TraceSetting', { settings: { trace_level: { value: ['TIMESTAMPS'] } } })).toEqual({
    code: 'INVALID_ARGUMENT',
    details: 'Attempting to set invalid trace setting :trace file name is not given',
  });
  expect(await lab.call('TraceSetting', { settings: { trace_rate: { value: ['x'] } } })).toEqual({
    code: 'INVALID_ARGUMENT',
    details: "Unable to parse 'trace_rate', got: x",
  });
  expect((await lab.call('TraceSetting', { settings: { trace_rate: { value: ['5'] } } })).settings.trace_rate).toEqual({ value: ['5'] });
  expect((await lab.call('TraceSetting', { settings: { trace_rate: { value: [] } } })).settings.trace_rate).toEqual({ value: ['1000'] });
  expect(await lab.call('LogSettings', { settings: { log_file: { string_param: 'x' } } })).toEqual({
    code: 'UNIMPLEMENTED',
    details: 'log file location can not be updated through network protocol',
  });
  expect(
    (await lab.call('LogSettings', { settings: { log_verbose_level: { uint32_param: 2 } } })).settings.log_verbose_level,
  ).toMatchObject({ uint32_param: 2 });
});
