import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defaultSettings, TINY_CHECKPOINT } from '#core/config/index.ts';
import { namedTarget } from './target-config.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-named-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const named = (text: string) => {
  const one = namedTarget(text, { ...defaultSettings(), tokenizer: TINY_CHECKPOINT }, cwd);
  return 'config' in one ? one.config : one;
};

test('names of targets', () => {
  expect(named('process:2.42')).toMatchObject({ target: 'process', triton: '2.42' });
  expect(named('process:/opt/tritonserver/bin/tritonserver')).toMatchObject({
    target: 'process',
    triton: '/opt/tritonserver/bin/tritonserver',
  });
  expect(named('docker:2.42')).toMatchObject({ target: 'docker', triton: '2.42', docker: { image: undefined } });
  expect(named('docker:nvcr.io/nvidia/tritonserver@sha256:abc')).toMatchObject({
    target: 'docker',
    docker: { image: 'nvcr.io/nvidia/tritonserver@sha256:abc' },
  });
  expect(named('external:gpu1')).toMatchObject({
    target: 'external',
    grpc: 'gpu1:8001',
    http: 'gpu1:8000',
    metrics: 'gpu1:8002',
    policy: 'margins',
  });
  expect(named('external:gpu1:1,2')).toMatchObject({ grpc: 'gpu1:1', http: 'gpu1:2', metrics: undefined });
  expect(named(`embedded:${TINY_CHECKPOINT}`)).toMatchObject({ target: 'embedded', checkpoint: TINY_CHECKPOINT });
  writeFileSync(join(cwd, 'side.json'), '{}');
  expect(named('side.json')).toEqual({ name: 'side.json', file: join(cwd, 'side.json') });
});

test.each([
  ['nope.json', /no such file/],
  ['slurm:2.42', /no kind of target slurm/],
  ['external:gpu1:8001', /two or three ports/],
])('%s is refused', (text, error) => {
  expect(() => named(text)).toThrow(error);
});
