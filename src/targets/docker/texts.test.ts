/** What is read from texts: references, limits, log frames, logins, engine folders. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEngineFolder, refuseOtherEngine } from './engine-folder.ts';
import { kindOfReference } from './image.ts';
import { logFrames } from './log-frames.ts';
import { registryLogin, registryOf } from './registry-login.ts';
import { portsOfCommand } from './servers.ts';
import { parseSize, parseUlimit } from './units.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'lockstep docker '))));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};

test.each([
  [`sha256:${'0f'.repeat(32)}`, 'id'],
  ['0f'.repeat(32), 'id'],
  [`nvcr.io/nvidia/tritonserver@sha256:${'0f'.repeat(32)}`, 'digest'],
  [`nvcr.io/nvidia/tritonserver:25.12-trtllm-python-py3@sha256:${'0f'.repeat(32)}`, 'digest'],
  ['nvcr.io/nvidia/tritonserver:25.12-trtllm-python-py3', 'tag'],
  ['tritonserver', 'tag'],
  ['sha256:0f0f', 'tag'],
])('%s is named by %s', (reference, kind) => {
  expect(kindOfReference(reference)).toBe(kind);
});

test('sizes and limits are read as docker run reads them', () => {
  expect(['1g', '64M', '512'].map(parseSize)).toEqual([2 ** 30, 2 ** 26, 512]);
  expect(parseUlimit('memlock=-1')).toEqual({ Name: 'memlock', Soft: -1, Hard: -1 });
  expect(parseUlimit('nofile=1024:4096')).toEqual({ Name: 'nofile', Soft: 1024, Hard: 4096 });
});

test('ports of a server on the network of the host are those that it was told', () => {
  expect([...portsOfCommand('tritonserver --model-repository=/models --http-port=28500 --grpc-port=28501 --metrics-port=28502')]).toEqual([
    [8000, '127.0.0.1:28500'],
    [8001, '127.0.0.1:28501'],
    [8002, '127.0.0.1:28502'],
  ]);
  expect([
    ...portsOfCommand('python3 main.py --openai-port=9 --enable-kserve-frontends --kserve-http-port=7 --kserve-grpc-port=8').keys(),
  ]).toEqual([9000, 8000, 8001]);
});

describe('log frames', () => {
  const frame = (stream: number, text: string) => {
    const head = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  async function read(chunks: readonly Buffer[]): Promise<string[]> {
    const found: string[] = [];
    // oxlint-disable-next-line typescript/require-await
    for await (const { stream, data } of logFrames(
      (async function* () {
        yield* chunks;
      })(),
    ))
      found.push(`${stream} ${data.toString('utf8')}`);
    return found;
  }
  const all = Buffer.concat([frame(1, 'out\n'), frame(2, ''), frame(2, 'Ä line\n')]);
  const frames = ['stdout out\n', 'stderr ', 'stderr Ä line\n'];

  test('are the same whatever the chunk borders', async () => {
    expect(await read([all])).toEqual(frames);
    expect(await read([...all].map((byte) => Buffer.from([byte])))).toEqual(frames);
    expect(await read([all.subarray(0, 11), all.subarray(11)])).toEqual(frames);
  });

  test('of sixty thousand short lines in one chunk neither overflow the stack nor take quadratic time', async () => {
    const line = frame(2, 'a short line\n');
    expect(await read([Buffer.concat(Array.from({ length: 60_000 }, () => line))])).toHaveLength(60_000);
  });
});

test('a registry login is what docker login left, for that registry alone', async () => {
  expect(['tritonserver:1', 'nvidia/x', 'nvcr.io/nvidia/x@sha256:00', 'localhost/x', 'host:5000/x'].map(registryOf)).toEqual([
    'https://index.docker.io/v1/',
    'https://index.docker.io/v1/',
    'nvcr.io',
    'localhost',
    'host:5000',
  ]);
  write('login/config.json', JSON.stringify({ auths: { 'nvcr.io': { auth: Buffer.from('$oauthtoken:se:cret').toString('base64') } } }));
  const env = { DOCKER_CONFIG: join(folder, 'login') };
  expect(await registryLogin('nvcr.io/nvidia/x', env)).toEqual({ username: '$oauthtoken', password: 'se:cret', serveraddress: 'nvcr.io' });
  expect(await registryLogin('other.io/x', env)).toBeUndefined();
  expect(await registryLogin('nvcr.io/x', { DOCKER_CONFIG: join(folder, 'nowhere') })).toBeUndefined();
});

describe('an engine folder', () => {
  test('says by which TensorRT-LLM and for how many ranks it was built', () => {
    write('engine/config.json', JSON.stringify({ version: '0.14.0', pretrained_config: { mapping: { world_size: 1 } } }));
    const engine = readEngineFolder(join(folder, 'engine'));
    expect(engine).toMatchObject({ version: '0.14.0', worldSize: 1 });
    expect(() => refuseOtherEngine('/e', engine, '0.14.0')).not.toThrow();
    expect(() => refuseOtherEngine('/e', engine, 'unknown')).not.toThrow();
    expect(() => refuseOtherEngine('/e', engine, '1.1.0')).toThrow(
      '[engine-version-differs] the engine in /e was built by TensorRT-LLM 0.14.0, and the image has 1.1.0',
    );
    expect(() => refuseOtherEngine('/e', { ...engine, worldSize: 2 }, '0.14.0')).toThrow('[engine-ranks]');
  });

  test.each([
    ['', 'file-malformed'],
    ['[]', 'engine-foreign'],
    ['{"version": ', 'file-malformed'],
    ['null', 'engine-config-invalid'],
  ])('whose config.json is %j is refused with its place', (text, code) => {
    const path = write('broken/config.json', text);
    expect(() => readEngineFolder(join(folder, 'broken'))).toThrow(`[${code}] ${path}:1: `);
  });

  test('without a config.json is none', () => {
    expect(() => readEngineFolder(folder)).toThrow('[engine-missing]');
  });
});
