import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelOfStub, modelsWithoutStub } from './stubs.ts';

const row = (argv: readonly string[]) => ({ pid: 2, parent: 1, state: 'S', startTicks: 1, argv });
const PROGRAM = '/opt/tritonserver/backends/python/triton_python_backend_stub';
const FOLDER = '/opt/tritonserver/backends/python';
const OLD = ['lockstep_15422_947b956b_2', '67108864', '67108864', '15430', FOLDER, '336'];
const NEW = ['lockstep_14740_da8b1736_70a64c5a-0ffb-4de2-9ed5-e97369541c76', '1048576', '1048576', '15155', FOLDER, '336'];

// Command lines as they were seen under both releases, with the folders of an image.
test.each([
  ['2.51', [...NEW, 'preprocessing_0_0', 'DEFAULT'], 'preprocessing'],
  ['2.51', [...NEW, 'my-model.v2_0_1', 'DEFAULT'], 'my-model.v2'],
  ['2.36', [...OLD, 'preprocessing_0', 'NONE'], 'preprocessing'],
])('of %s a stub with the arguments %j answers for %s', (_, argv, model) => {
  expect(modelOfStub(row([PROGRAM, `/models/${model}/1/model.py`, ...argv]))).toBe(model);
});

test('a model of Python that is READY and has no stub is told from those of other back ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-stubs-'));
  try {
    const model = (name: string, text: string) => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'config.pbtxt'), text);
      return { name, state: 'READY' };
    };
    const index = [
      model('lives', 'backend: "python"\n'),
      model('lost', 'name: "lost"\n  backend: "python"\n'),
      model('ensemble', 'platform: "ensemble"\n'),
      { ...model('unloaded', 'backend: "python"\n'), state: 'UNAVAILABLE' },
    ];
    expect(modelsWithoutStub(folder, index, new Set(['lives']))).toEqual(['lost']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
