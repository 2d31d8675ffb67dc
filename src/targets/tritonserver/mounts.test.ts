import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planMounts } from './mounts.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'lockstep mounts '))));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};

describe('mounts', () => {
  const parameter = (key: string, value: string) => `parameters { key: "${key}" value { string_value: "${value}" } }\n`;

  test('put each folder where the repository looks for it', () => {
    write(
      'r/models/tensorrt_llm/config.pbtxt',
      parameter('gpt_model_path', '/engines/llama/') + parameter('checkpoint_dir', '../../checkpoint/tiny'),
    );
    write('r/models/preprocessing/config.pbtxt', parameter('tokenizer_dir', '/tok'));
    write('r/real/tokenizer.json', '{}');
    mkdirSync(join(folder, 'engine'));
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
