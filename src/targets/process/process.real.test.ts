import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { healthOf } from '../alive.ts';
import { layOutTriton, startTritonServer, type TritonProcess } from './index.ts';
import { findLiving } from '../host/index.ts';

const REPOSITORY = fileURLToPath(new URL('../../../docker/models', import.meta.url));
const PYTHON_MODELS = ['llmapi', 'postprocessing', 'preprocessing', 'tensorrt_llm', 'tensorrt_llm_bls', 'tensorrt_llm_bls_accumulate'];
/** Any ids inside the vocabulary are a prompt. */
const PROMPT = [0, 40, 41, 42, 43, 44];

const bytecode = (): string[] =>
  readdirSync(REPOSITORY, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('__pycache__'))
    .map((path) => join(REPOSITORY, path));

// Downloads a server of 41 MB on the first run, hence not part of the ordinary tests.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('a real tritonserver as a process', { timeout: 60_000 }, () => {
  let server: TritonProcess;

  beforeAll(async () => {
    for (const path of bytecode()) rmSync(path, { recursive: true });
    server = await startTritonServer({ repository: REPOSITORY });
  }, 900_000);
  afterAll(async () => server.stop(), 30_000);

  test('a second layout is found, not built', async () => {
    const { folder, python } = await layOutTriton();
    const madeMs = () => [folder, python.bin].map((path) => statSync(path).ctimeMs);
    const before = madeMs();
    expect(await layOutTriton()).toMatchObject({ folder, python });
    expect(madeMs()).toEqual(before);
  });

  test('models start without leaving anything in their repository, which would be a change of them', () => {
    expect(bytecode()).toEqual([]);
  });

  test('all processes behind a ready server are alive', async () => {
    expect(await server.health()).toEqual({ alive: true, detail: '' });
    expect([...server.stubs().keys()].sort()).toEqual(PYTHON_MODELS);
  });

  test('the ensemble answers with prompt and continuation', async () => {
    const answer = await post(server, 'ensemble/generate', { text_input: 'The sky is', max_tokens: 8 });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ model_name: 'ensemble', text_output: expect.stringMatching(/^The sky is/) });
  });

  test('the raw stream ends at max_tokens on its last token and at EOS with an empty response', async () => {
    const full = await stream(server, { request_output_len: 6 });
    expect(full.map((event) => event.sequence_length)).toEqual([1, 1, 1, 1, 1, 1]);
    const third = full[2]?.output_ids;
    const first = full.findIndex((event) => event.output_ids === third);
    const ended = await stream(server, { request_output_len: 6, end_id: third });
    expect(ended.slice(0, -1)).toEqual(full.slice(0, first));
    expect(ended.at(-1)).toMatchObject({ output_ids: [], sequence_length: 0 });
  });

  test('an engine error names the input', async () => {
    const answer = await post(server, 'tensorrt_llm/generate', { ...raw({ request_output_len: 4 }), lora_task_id: 1 });
    expect(answer).toEqual({
      status: 400,
      body: expect.stringMatching(
        /^\{"error":"Executor failed process requestId \d+ due to the following error: lora_task_id is not supported/,
      ),
    });
  });

  test('a prompt asked again takes its whole blocks from memory and gets the same answer', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => 100 + ((index * 7) % 300));
    const request = { input_ids: ids, input_lengths: 40, request_output_len: 20, return_perf_metrics: true, exclude_input_in_output: true };
    const [first, second] = [await post(server, 'tensorrt_llm/generate', request), await post(server, 'tensorrt_llm/generate', request)];
    expect(JSON.parse(first.body)).toMatchObject({ kv_cache_reused_blocks: 0 });
    expect(JSON.parse(second.body)).toMatchObject({ kv_cache_reused_blocks: 2, output_ids: JSON.parse(first.body).output_ids });
  });

  test('a closed stream frees the engine long before its end', async () => {
    const before = await steps(server);
    const abort = new AbortController();
    const body = JSON.stringify({ ...raw({ request_output_len: 500 }), streaming: true });
    const url = `http://${server.endpoints.http}/v2/models/tensorrt_llm/generate_stream`;
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: abort.signal });
    await reply.body?.getReader().read();
    expect(await gauges(server)).toContain('active 1');
    abort.abort();
    await pollUntil({ ms: 10_000, everyMs: 2, what: 'the engine to be free' }, async () =>
      (await gauges(server)).includes('active 0') ? true : undefined,
    );
    // The whole answer would be 500 steps; on an idle machine it makes some five.
    expect((await steps(server)) - before).toBeLessThan(400);
  });

  test('an idle engine holds no memory', async () => {
    expect(await gauges(server)).toEqual(['active 0', 'used 0', 'waiting 0']);
  });

  // A stub that ends by a signal is no more than a line in the kernel's log; but then it tells the server nothing.
  test('an unloaded model has taken its gauges off the page: its process came to its own end', async () => {
    await using own = await startTritonServer({ repository: REPOSITORY, models: ['tensorrt_llm'] });
    expect((await post(own, 'tensorrt_llm/generate', raw({ request_output_len: 4 }))).status).toBe(200);
    expect(await gauges(own)).toEqual(['active 0', 'used 0', 'waiting 0']);
    const url = `http://${own.endpoints.http}/v2/repository/models/tensorrt_llm/unload`;
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    await pollUntil({ ms: 10_000, everyMs: 20, what: 'its process to end' }, async () => (own.stubs().size === 0 ? true : undefined));
    expect(await gauges(own)).toEqual([]);
  });

  test('a model that cannot load stops the start with the last log lines', async () => {
    const start = startTritonServer({ repository: REPOSITORY, models: ['no-such-model'] });
    await expect(start).rejects.toMatchObject({ code: 'target-exited', context: { log: expect.stringContaining('no-such-model') } });
  });

  test('a server that dies of a request is found dead, by its signal', async () => {
    await using victim = await startTritonServer({ repository: REPOSITORY, models: ['preprocessing'] });
    // docs/observed.md#crashes: the parser of form bodies runs over its buffer from 4 MiB on.
    const deadly = fetch(`http://${victim.endpoints.http}/v2/models/preprocessing/infer`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a'.repeat(4 * 1024 * 1024),
      signal: AbortSignal.timeout(10_000),
    });
    await expect(deadly).rejects.toThrow('fetch failed');
    // While it writes its stack it runs and does not answer.
    await pollUntil({ ms: 10_000, everyMs: 20, what: 'the death to be named' }, async () =>
      (await victim.health()).detail.includes('SIGSEGV') ? true : undefined,
    );
  });

  test('a killed Python process is found although the server stays ready, and nothing is left after stop', async () => {
    await using victim = await startTritonServer({ repository: REPOSITORY });
    const mark = `lockstep_${process.pid}_`;
    const before = shared(mark).length;
    const refs = await victim.processes();
    expect(await healthOf(refs)).toEqual({ alive: true, detail: '' });
    process.kill(victim.stubs().get('postprocessing') ?? 0, 'SIGKILL');
    const finding = await pollUntil({ ms: 5_000, everyMs: 20, what: 'the death to be found' }, async () => {
      const health = await victim.health();
      return health.alive ? undefined : health;
    });
    expect(finding.detail).toMatch(/^the Python process of postprocessing is dead while the server still calls the model READY/);
    const byPid = await healthOf(refs);
    expect(byPid).toMatchObject({
      alive: false,
      detail: expect.stringMatching(/^Python stub of postprocessing \(process \d+\) is dead\n.*started/is),
    });
    expect((await fetch(`http://${victim.endpoints.http}/v2/health/ready`)).status).toBe(200);
    await victim.stop();
    expect(victim.pid === undefined || !existsSync(`/proc/${victim.pid}`)).toBe(true);
    expect(shared(mark).length).toBe(before - PYTHON_MODELS.length);
    expect(findLiving(mark).filter((row) => row.parent !== server.pid && row.pid !== server.pid)).toEqual([]);
    for (const endpoint of [victim.endpoints.http, victim.endpoints.grpc, victim.endpoints.metrics]) {
      expect(await canConnect(endpoint ?? '')).toBe(false);
    }
  });
});

interface RawEvent {
  readonly output_ids: number | readonly number[];
  readonly sequence_length: number;
}

function raw(more: object): object {
  return { input_ids: PROMPT, input_lengths: PROMPT.length, ...more };
}

async function stream(server: TritonProcess, more: object): Promise<RawEvent[]> {
  const { body } = await post(server, 'tensorrt_llm/generate_stream', { ...raw(more), streaming: true });
  return body
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const { output_ids, sequence_length } = JSON.parse(event.replace(/^data: /, '')) as RawEvent;
      return { output_ids, sequence_length };
    });
}

async function post(server: TritonProcess, path: string, body: object): Promise<{ status: number; body: string }> {
  const reply = await fetch(`http://${server.endpoints.http}/v2/models/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: reply.status, body: await reply.text() };
}

async function steps(server: TritonProcess): Promise<number> {
  const text = await (await fetch(`http://${server.endpoints.metrics}/metrics`)).text();
  return Number(/^nv_trt_llm_general_metrics\{.*="iteration_counter".*\} (\S+)$/m.exec(text)?.[1]);
}

async function gauges(server: TritonProcess): Promise<string[]> {
  const text = await (await fetch(`http://${server.endpoints.metrics}/metrics`)).text();
  return [...text.matchAll(/^nv_trt_llm_\w+\{.*="(active|waiting|used)".*\} (\S+)$/gm)].map((match) => `${match[1]} ${match[2]}`).sort();
}

function shared(mark: string): string[] {
  return readdirSync('/dev/shm').filter((name) => name.startsWith(mark) && !name.endsWith('last_words'));
}

async function canConnect(endpoint: string): Promise<boolean> {
  const [host, port] = endpoint.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host ?? '');
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
