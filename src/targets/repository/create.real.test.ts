import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { servable } from '../model-repository.ts';
import { startTritonServer } from '../process/index.ts';
import { type RepositoryOptions, planRepository, writeRepository } from './index.ts';

let folder = '';

const PROMPT = 'The sky is';

// Starts a server that `.cache/triton` must have, hence not part of the ordinary tests.
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('a made repository on a real tritonserver', { timeout: 60_000 }, () => {
  // Of skipped tests no hook runs, so nothing may be made outside of one.
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep made '));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.concurrent.each([
    ['inflight', { ensemble: { max_tokens: 8 }, tensorrt_llm_bls: { max_tokens: 8, return_num_output_tokens: true } }],
    ['v1', { ensemble: { max_tokens: 8 } }],
    ['llmapi', { tensorrt_llm: { sampling_param_max_tokens: 8 } }],
  ] as const)('%s answers through every model that takes text', async (form, models) => {
    const repository = join(folder, form);
    const options: RepositoryOptions = {
      form,
      backend: 'cpu',
      release: undefined,
      engine: TINY_CHECKPOINT,
      tokenizer: TINY_CHECKPOINT,
      nvidiaModels: undefined,
      parallel: 'leader',
      set: {},
    };
    writeRepository(planRepository(options).files, repository);
    await using server = await startTritonServer({ repository: servable(repository), readyWithinMs: 30_000 });
    for (const [model, limits] of Object.entries(models)) {
      const ask = async () => {
        const reply = await fetch(`http://${server.endpoints.http}/v2/models/${model}/generate`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text_input: PROMPT, ...limits }),
          signal: AbortSignal.timeout(10_000),
        });
        return { status: reply.status, body: (await reply.json()) as { readonly text_output?: string } };
      };
      const [first, second] = [await ask(), await ask()];
      expect(first).toMatchObject({ status: 200, body: { text_output: expect.stringMatching(/^The sky is./) } });
      expect(second.body.text_output).toBe(first.body.text_output);
      const config = await (await fetch(`http://${server.endpoints.http}/v2/models/${model}/config`)).json();
      expect(config).toMatchObject({ name: model, max_batch_size: form === 'llmapi' ? 0 : 8 });
      expect(config).not.toHaveProperty('dynamic_batching');
    }
  });
});
