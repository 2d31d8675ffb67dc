import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODEL_REPOSITORY, TINY_CHECKPOINT } from '#core/config/index.ts';
import { startTritonServer, type TritonProcess } from '#targets/process/index.ts';
import { lockstep } from './testing.ts';

const sample = (name: string) => join(import.meta.dirname, '../targets/external/samples', name);
const SECRET = 'geheim-5512';
const cwd = mkdtempSync(join(tmpdir(), 'lockstep-access-'));

/** A real 2.51 that asks on gRPC for the client's certificate, and on both protocols for a key before it infers. */
describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('a real tritonserver behind TLS and a key', { timeout: 60_000 }, () => {
  let server: TritonProcess;

  beforeAll(async () => {
    server = await startTritonServer({
      repository: MODEL_REPOSITORY,
      args: [
        '--grpc-use-ssl-mutual=true',
        `--grpc-server-cert=${sample('server.pem')}`,
        `--grpc-server-key=${sample('server.key')}`,
        `--grpc-root-cert=${sample('root.pem')}`,
        `--grpc-restricted-protocol=inference:x-key=${SECRET}`,
        `--http-restricted-api=inference:x-key=${SECRET}`,
      ],
    });
  }, 900_000);
  afterAll(async () => {
    rmSync(cwd, { recursive: true });
    await server.stop();
  }, 30_000);

  const check = async (headers: readonly string[]) => {
    const { grpc, http } = server.endpoints;
    const tls = ['--tls-ca', sample('root.pem'), '--tls-cert', sample('client.pem'), '--tls-key', sample('client.key')];
    const where = ['--target', 'external', '--grpc', `grpcs://${grpc}`, '--http', http, '--tokenizer', TINY_CHECKPOINT];
    const given = headers.flatMap((header) => ['--header', header]);
    return lockstep(cwd, ['check', 'grpc-stream-framing', 'http-generate-stream', '--json', 'out.json', ...where, ...tls, ...given]);
  };

  test('answers the suite with certificate and key, and says what is missing without', async () => {
    // Upstream puts this prefix before the name on gRPC (src/grpc/grpc_utils.h).
    const held = await check([`x-key: ${SECRET}`, `triton-grpc-protocol-x-key: ${SECRET}`]);
    expect(held.out).toMatch(/claims: 2 held, 0 failed/);
    const refused = await check([`x-key: ${SECRET}`]);
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(/✓ protocol +http-generate-stream/);
    expect(refused.out).toContain("This protocol is restricted, expecting header 'triton-grpc-protocol-x-key'");
    for (const shown of [held, refused]) expect(shown.out + shown.error).not.toContain(SECRET);
  });
});
