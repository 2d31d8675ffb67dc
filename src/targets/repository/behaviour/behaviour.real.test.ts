import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { EMBEDDED_DEFAULTS } from '#embedded/options.ts';
import { connect } from '#wire/clients/index.ts';
import { startEmbeddedTarget } from '../../embedded/index.ts';
import { startTritonServer } from '../../process/index.ts';
import type { Endpoints } from '../../types.ts';
import { auditLoaded, loadedModels, planRepository, type Trial, tryBehaviour, writeRepository } from '../index.ts';

let folder = '';

/** A repository of the launch profile, with one model's configuration made worse. */
function repository(name: string, worse: Readonly<Record<string, (text: string) => string>> = {}): string {
  const output = join(folder, name);
  const options = { form: 'inflight', backend: 'cpu', release: undefined, nvidiaModels: undefined, parallel: 'leader', set: {} } as const;
  writeRepository(planRepository({ ...options, engine: TINY_CHECKPOINT, tokenizer: TINY_CHECKPOINT }).files, output);
  for (const [model, change] of Object.entries(worse)) {
    const file = join(output, model, 'config.pbtxt');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
  return output;
}

async function contradicted(endpoints: Endpoints): Promise<readonly Trial['id'][]> {
  await using clients = connect(endpoints);
  const { signal } = new AbortController();
  const models = await loadedModels(clients.http, signal);
  const trials = await tryBehaviour(
    clients,
    models.map(({ config }) => config),
    signal,
  );
  expect(trials.filter(({ verdict }) => verdict === 'contradicted').every(({ detail }) => detail !== '')).toBe(true);
  return trials.filter(({ verdict }) => verdict === 'contradicted').map(({ id }) => id);
}

// Starts servers, hence part of npm run test:processes.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1').concurrent('behaviour', { timeout: 60_000 }, () => {
  // Of skipped tests no hook runs, so nothing may be made outside of one.
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-behaviour-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('contradicts nothing on a server of the launch profile, where every statement was tried', async () => {
    const path = repository('clean');
    await using server = await startTritonServer({ repository: path });
    await using clients = connect(server.endpoints);
    const { signal } = new AbortController();
    const models = await loadedModels(clients.http, signal);
    expect(auditLoaded(models, undefined, path).findings.filter(({ level }) => level !== 'note')).toEqual([]);
    const trials = await tryBehaviour(
      clients,
      models.map(({ config }) => config),
      signal,
    );
    expect(trials.map(({ id, verdict, n }) => [id, verdict, n > 0])).toEqual([
      ['equal-answers', 'not contradicted', true],
      ['alone-and-together', 'not contradicted', true],
      ['stream-order', 'not contradicted', true],
      ['single-batches', 'not contradicted', true],
      ['no-response-cache', 'not contradicted', true],
      ['one-process-each', 'not contradicted', true],
    ]);
  });

  test('finds the parts of streams out of order, and the processes, behind four instances of postprocessing', async () => {
    const path = repository('instances', { postprocessing: (text) => text.replace('count: 1', 'count: 4') });
    await using server = await startTritonServer({ repository: path });
    expect(await contradicted(server.endpoints)).toEqual(['stream-order', 'one-process-each']);
  });

  test('finds batches in the statistics of a server that batches, and a response cache by its lookups', async () => {
    const path = repository('batching', {
      preprocessing: (text) => `${text}dynamic_batching { max_queue_delay_microseconds: 2000 }\n`,
      postprocessing: (text) => `${text}response_cache { enable: true }\n`,
    });
    await using server = await startTritonServer({ repository: path, args: ['--cache-config=local,size=10485760'] });
    // Hits overtake misses, so that the parts of streams come out of order too, though not every time.
    expect(await contradicted(server.endpoints)).toEqual(expect.arrayContaining(['single-batches', 'no-response-cache']));
    await using clients = connect(server.endpoints);
    const models = await loadedModels(clients.http, new AbortController().signal);
    writeFileSync(
      join(path, 'preprocessing', 'config.pbtxt'),
      readFileSync(join(path, 'preprocessing', 'config.pbtxt'), 'utf8').replace('2000', '0'),
    );
    expect(
      auditLoaded(models, undefined, path)
        .findings.filter(({ level }) => level === 'error')
        .map(({ model, knob }) => [model, knob.id]),
    ).toEqual([
      ['postprocessing', 'response-cache'],
      ['preprocessing', 'dynamic-batching'],
      ['preprocessing', 'loaded-differs'],
    ]);
  });

  test.each([
    ['stream-reordered-postprocessing', 'stream-order'],
    ['batch-gt1-wrong-concurrent-equal', 'alone-and-together'],
  ] as const)('finds the fault %s of the embedded server', async (fault, id) => {
    await using server = await startEmbeddedTarget({ server: { ...EMBEDDED_DEFAULTS, faults: [fault] } });
    expect(await contradicted(server.endpoints)).toContain(id);
  });
});
