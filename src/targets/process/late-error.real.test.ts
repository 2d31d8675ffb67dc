/** Why the fault `bls-hangs-on-late-error` is no invention: the real Python backend of 2.51 under this project's own BLS. */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY } from '#core/config/index.ts';
import { startTritonServer, type TritonProcess } from './index.ts';

/** An engine that fails with its first response, or behind the second when more than one token was asked for. */
const ENGINE = `
import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            asked = pb_utils.get_input_tensor_by_name(request, "request_output_len").as_numpy().reshape(-1)[0]
            for token in (40, 41) if asked > 1 else ():
                ids = np.array([[[token]]], dtype=np.int32)
                length = np.array([[1]], dtype=np.int32)
                sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("output_ids", ids), pb_utils.Tensor("sequence_length", length)]))
            sender.send(pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError("boom")), flags=FINAL)
        return None
`;

/** Long beside the milliseconds that an answer takes here. */
const PATIENCE_MS = 1500;

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('an engine error behind the first response', { timeout: 60_000 }, () => {
  let server: TritonProcess;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-late-error-'));
    const repository = join(folder, 'models');
    for (const model of ['preprocessing', 'postprocessing', 'tensorrt_llm_bls', 'tensorrt_llm', 'ensemble'])
      cpSync(join(MODEL_REPOSITORY, model), join(repository, model), { recursive: true });
    symlinkSync(join(MODEL_REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
    writeFileSync(join(repository, 'tensorrt_llm', '1', 'model.py'), ENGINE);
    server = await startTritonServer({ repository });
  }, 900_000);
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  }, 60_000);

  test('ends a stream of the ensemble with the error', async () => {
    const { body, ended } = await stream(server, 'ensemble', 8);
    expect(ended).toBe(true);
    expect(body).toContain(`{"error":"in ensemble 'ensemble', boom"}`);
  });

  test('is a traceback of the BLS while it is the first, and takes the instance for ever when it is not', async () => {
    const first = await stream(server, 'tensorrt_llm_bls', 1);
    expect(first.ended).toBe(true);
    expect(first.body).toContain('c_python_backend_utils.TritonModelException: boom');
    const late = await stream(server, 'tensorrt_llm_bls', 8);
    expect(late.ended).toBe(false);
    expect(late.body.match(/text_output/g)).toHaveLength(2);
    expect(late.body).not.toContain('error');
    // The one that would be refused at once finds nobody there.
    expect(await stream(server, 'tensorrt_llm_bls', 1)).toEqual({ body: '', ended: false });
    expect(await server.health()).toEqual({ alive: true, detail: '' });
  });
});

/** What came within the patience, and whether that was all. */
async function stream(
  server: TritonProcess,
  model: string,
  max_tokens: number,
): Promise<{ readonly body: string; readonly ended: boolean }> {
  let body = '';
  try {
    const response = await fetch(`http://${server.endpoints.http}/v2/models/${model}/generate_stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text_input: 'x', max_tokens, stream: true }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    for await (const chunk of response.body!) body += Buffer.from(chunk).toString();
    return { body, ended: true };
  } catch {
    return { body, ended: false };
  }
}
