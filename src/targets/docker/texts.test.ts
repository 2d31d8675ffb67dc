/** What is read from texts: references, limits, logs, logins, engine folders, repositories. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEngineFolder, refuseOtherEngine } from './engine-folder.ts';
import { kindOfReference } from './image.ts';
import { findLoadFailure } from './load-failure.ts';
import { logFrames } from './log-frames.ts';
import { planMounts } from './mounts.ts';
import { ownerState, thisOwner } from './owner.ts';
import { registryLogin, registryOf } from './registry-login.ts';
import { envNames, parseEnv, parseSize, parseUlimit } from './units.ts';

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

test('sizes, limits and environment are read as docker run reads them', () => {
  expect(['1g', '64M', '512'].map(parseSize)).toEqual([2 ** 30, 2 ** 26, 512]);
  expect(parseUlimit('memlock=-1')).toEqual({ Name: 'memlock', Soft: -1, Hard: -1 });
  expect(parseUlimit('nofile=1024:4096')).toEqual({ Name: 'nofile', Soft: 1024, Hard: 4096 });
  expect(parseEnv(['A=b=c', 'HF_TOKEN', 'E='], { HF_TOKEN: 'x' })).toEqual(['A=b=c', 'HF_TOKEN=x', 'E=']);
  expect(envNames(['A=b=c', 'HF_TOKEN'])).toEqual(['A', 'HF_TOKEN']);
  expect(() => parseEnv(['HF_TOKEN'], {})).toThrow('[env-missing] --env HF_TOKEN takes its value from here');
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

// As tritonserver 2.51 writes it.
test('why a model did not load is found in the log, with all of its lines', () => {
  const log = [
    'I1201 14:00:00.000000 1 model_lifecycle.cc:472] "loading: broken:1"',
    `E1201 14:00:01.000000 1 model_lifecycle.cc:642] "failed to load 'broken' version 1: Internal: ModuleNotFoundError: No module named 'nope'`,
    '',
    'At:',
    '  /models/broken/1/model.py(1): <module>',
    '"',
    'I1201 14:00:01.000001 1 model_lifecycle.cc:777] "failed to load \'broken\'"',
  ];
  expect(findLoadFailure(log)).toEqual({
    model: 'broken',
    reason: "Internal: ModuleNotFoundError: No module named 'nope'\n\nAt:\n  /models/broken/1/model.py(1): <module>",
  });
  expect(findLoadFailure(log.slice(0, 1))).toBeUndefined();
  const others = [
    `E1201 14:56:50.083311 1 model_repository_manager.cc:724] "failed to load model 'bad': at least one version must be available under the version policy of model 'bad'"`,
    '[libprotobuf ERROR /tmp/x/text_format.cc:337] Error parsing text-format inference.ModelConfig: 2:17: Expected integer, got: zero',
    `E1201 14:56:52.139500 1 model_repository_manager.cc:1460] "Poll failed for model directory 'worse': failed to read text proto from /models/worse/config.pbtxt"`,
    'error: creating server: Internal - failed to load all models',
  ];
  expect(findLoadFailure(others)).toEqual({
    model: 'bad',
    reason: "at least one version must be available under the version policy of model 'bad'",
  });
  expect(findLoadFailure(others.slice(1))).toEqual({
    model: 'worse',
    reason: 'failed to read text proto from /models/worse/config.pbtxt: 2:17: Expected integer, got: zero',
  });
});

test('an owner is alive, dead, detached, or of a host that cannot be seen from here', () => {
  const own = thisOwner();
  expect(ownerState(own)).toBe('living');
  expect(ownerState(own.replace(/^\d+:\d+/, `${process.pid}:1`))).toBe('dead');
  expect(ownerState(`1:1:another-boot@${hostname()}`)).toBe('dead');
  expect(ownerState('1:1:boot@another-host')).toBe('of another host');
  expect(ownerState('detached')).toBe('detached');
  expect(ownerState('')).toBe('of another host');
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

describe('mounts', () => {
  const parameter = (key: string, value: string) => `parameters { key: "${key}" value { string_value: "${value}" } }\n`;

  test('put each folder where the repository looks for it', () => {
    write(
      'r/models/tensorrt_llm/config.pbtxt',
      parameter('gpt_model_path', '/engines/llama/') + parameter('checkpoint_dir', '../../checkpoint/tiny'),
    );
    write('r/models/preprocessing/config.pbtxt', parameter('tokenizer_dir', '/tok'));
    write('r/real/tokenizer.json', '{}');
    mkdirSync(join(folder, 'r/checkpoint'));
    symlinkSync(join(folder, 'r/real'), join(folder, 'r/checkpoint/tiny'));
    const at = (path: string) => join(folder, path);
    expect(planMounts({ repository: at('r/models'), engineDir: at('engine'), tokenizer: at('r/real') })).toEqual({
      all: [
        { source: at('r/models'), target: '/models' },
        { source: at('engine'), target: '/engines/llama' },
        { source: at('r/real'), target: '/tok' },
        { source: at('r/real'), target: '/checkpoint/tiny' },
      ],
      tokenizer: '/tok',
    });
  });

  test('follow links that lead out of the repository, and no others', () => {
    write('linked/one/config.pbtxt', '');
    write('elsewhere/1/model.py', '');
    mkdirSync(join(folder, 'linked/two'));
    symlinkSync(join(folder, 'elsewhere/1'), join(folder, 'linked/two/1'));
    symlinkSync('../elsewhere', join(folder, 'linked/three'));
    symlinkSync('one', join(folder, 'linked/four'));
    const { all } = planMounts({ repository: join(folder, 'linked'), engineDir: undefined, tokenizer: undefined });
    expect(all).toEqual([
      { source: join(folder, 'linked'), target: '/models' },
      { source: join(folder, 'elsewhere'), target: '/elsewhere' },
      { source: join(folder, 'elsewhere/1'), target: join(folder, 'elsewhere/1') },
    ]);
  });

  test('have usual places for what no configuration names', () => {
    write('plain/m/config.pbtxt', 'name: "m" a field that there is not');
    const { all } = planMounts({ repository: join(folder, 'plain'), engineDir: folder, tokenizer: folder });
    expect(all.map(({ target }) => target)).toEqual(['/models', '/engine', '/tokenizer']);
  });

  test('of a mistyped path are refused before anything starts', () => {
    const mistyped = join(folder, 'no such');
    expect(() => planMounts({ repository: mistyped, engineDir: undefined, tokenizer: undefined })).toThrow(
      `[mount-source-missing] the model repository ${mistyped} does not exist`,
    );
    expect(() => planMounts({ repository: folder, engineDir: mistyped, tokenizer: undefined })).toThrow('the engine folder');
  });
});
