import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import { int32Tensor, int32Values } from '#wire/protocol/tensors.ts';
import { createTritonCore, type CoreTensor, type Model, type ResponseSender, type TritonCore } from './index.ts';

let repository: string;
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'lockstep-core-'));
});
afterEach(() => rmSync(repository, { recursive: true }));

const tensor = (name: string, more = '') => `{ name: "${name}" data_type: TYPE_INT32 dims: [ 1 ] ${more} }`;

function model(name: string, text: string): void {
  mkdirSync(join(repository, name, '1'), { recursive: true });
  writeFileSync(join(repository, name, 'config.pbtxt'), `name: "${name}"\n${text}`);
}

function map(kind: 'input' | 'output', pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${kind}_map { key: "${key}" value: "${value}" }`)
    .join(' ');
}

function step(name: string, inputs: Record<string, string>, outputs: Record<string, string>): string {
  return `step { model_name: "${name}" model_version: -1 ${map('input', inputs)} ${map('output', outputs)} }`;
}

function ensembleOf(inputs: string, outputs: string, ...steps: string[]): void {
  model('all', `platform: "ensemble"\ninput [ ${inputs} ]\noutput [ ${outputs} ]\nensemble_scheduling { ${steps.join('\n')} }`);
}

type Execute = (value: (name: string) => number | undefined, sender: ResponseSender) => void;

function start(models: Record<string, Execute>): TritonCore {
  return createTritonCore({
    repository,
    profile: DEFAULT_PROFILE,
    faults: new Set(),
    factory: ({ name }) => {
      const execute = models[name];
      return (
        execute &&
        ((): Model => ({
          execute: (request, sender) => execute((n) => int32Values(request.inputs.get(n)?.data ?? new Uint8Array())[0], sender),
        }))
      );
    },
  });
}

const one = (name: string, value: number): CoreTensor => int32Tensor(name, [1], [value]);

/** What came out, one line per call of the sink. */
function run(core: TritonCore, inputs: readonly CoreTensor[], id = ''): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const lines: string[] = [];
  core.infer(
    { modelName: 'all', modelVersion: '', id, parameters: new Map(), inputs, requestedOutputs: [] },
    (response, final) => {
      const outputs = response?.outputs.map((o) => `${o.name}=${int32Values(o.data)[0]}`).join(' ');
      lines.push(`${response === undefined ? 'flag' : (response.error?.message ?? outputs)}${final ? ' F' : ''}`);
      if (final) resolve(lines);
    },
    'grpc',
  );
  return promise;
}

test('steps run when their tensors are there, whatever their order in the config', async () => {
  model('double', `backend: "python"\ninput ${tensor('X')}\noutput ${tensor('Y')}`);
  model('sum', `backend: "python"\ninput [ ${tensor('A')}, ${tensor('B')} ]\noutput ${tensor('C')}`);
  ensembleOf(
    tensor('in'),
    tensor('out'),
    step('sum', { A: 'd1', B: 'd2' }, { C: 'out' }),
    step('double', { X: 'd1' }, { Y: 'd2' }),
    step('double', { X: 'in' }, { Y: 'd1' }),
  );
  const core = start({
    double: (v, s) => s.send([one('Y', (v('X') ?? 0) * 2)], true),
    sum: (v, s) => s.send([one('C', (v('A') ?? 0) + (v('B') ?? 0))], true),
  });
  expect(await run(core, [one('in', 3)])).toEqual(['out=18 F']);
  expect(core.isDecoupled('all', '')).toBe(false);
  await core.close();
});

test('each response of a decoupled step runs the steps behind it; the flag rides on the last, or comes alone', async () => {
  model('count', `backend: "python"\ninput ${tensor('N')}\noutput ${tensor('I')}\nmodel_transaction_policy { decoupled: true }`);
  model('square', `backend: "python"\ninput [ ${tensor('X')}, ${tensor('N')} ]\noutput ${tensor('Y')}`);
  ensembleOf(tensor('n'), tensor('y'), step('count', { N: 'n' }, { I: 'i' }), step('square', { X: 'i', N: 'n' }, { Y: 'y' }));
  let flagAlone = false;
  const core = start({
    count: (v, s) => {
      const n = v('N') ?? 0;
      for (let i = 1; i <= n; i++) setTimeout(() => s.send([one('I', i)], i === n && !flagAlone), i * 3);
      if (n === 0 || flagAlone) setTimeout(() => s.close(), n * 3 + 3);
    },
    square: (v, s) => s.send([one('Y', (v('X') ?? 0) ** 2)], true),
  });
  expect(await run(core, [one('n', 3)])).toEqual(['y=1', 'y=4', 'y=9 F']);
  expect(await run(core, [one('n', 0)])).toEqual(['flag F']);
  flagAlone = true;
  expect(await run(core, [one('n', 2)])).toEqual(['y=1', 'y=4', 'flag F']);
  expect(core.modelConfig('all', '').model_transaction_policy).toEqual({ decoupled: true });
  await core.close();
});

test('answers of a step that come late leave in the order of completion, the flag on the last', async () => {
  model('count', `backend: "python"\ninput ${tensor('N')}\noutput ${tensor('I')}\nmodel_transaction_policy { decoupled: true }`);
  model('slow', `backend: "python"\ninput ${tensor('X')}\noutput ${tensor('Y')}`);
  ensembleOf(tensor('n'), tensor('y'), step('count', { N: 'n' }, { I: 'i' }), step('slow', { X: 'i' }, { Y: 'y' }));
  const core = start({
    count: (v, s) => {
      for (let i = 1; i <= (v('N') ?? 0); i++) s.send([one('I', i)], i === v('N'));
    },
    slow: (v, s) => setTimeout(() => s.send([one('Y', v('X') ?? 0)], true), v('X') === 1 ? 30 : 5),
  });
  expect(await run(core, [one('n', 2)])).toEqual(['y=2', 'y=1 F']);
  await core.close();
});

test('an error of a step names the ensemble and waits for what is in flight', async () => {
  model('bad', `backend: "python"\ninput ${tensor('X')}\noutput ${tensor('Y')}`);
  ensembleOf(tensor('in'), tensor('out'), step('bad', { X: 'in' }, { Y: 'out' }));
  const core = start({
    bad: () => {
      throw new Error('boom');
    },
  });
  const [line, ...rest] = await run(core, [one('in', 1)]);
  expect(line).toMatch(/^in ensemble 'all', Failed to process the request\(s\) for model 'bad_0_0', message: Error: boom\n\nAt:\n/);
  expect(line).toMatch(/ F$/);
  expect(rest).toEqual([]);
  await core.close();
});

test('a tensor that never comes: deadlock, unless decoupled', async () => {
  model('pick', `backend: "python"\ninput [ ${tensor('A', 'optional: true')}, ${tensor('B')} ]\noutput ${tensor('Y')}`);
  ensembleOf(
    `${tensor('a')}, ${tensor('b')}, ${tensor('c', 'optional: true')}`,
    tensor('out'),
    step('pick', { A: 'c', B: 'b' }, { Y: 'out' }),
  );
  const core = start({ pick: (v, s) => s.send([one('Y', v('B') ?? 0)], true) });
  expect(await run(core, [one('a', 1), one('b', 2)])).toEqual(['out=2 F']);
  expect(await run(core, [one('a', 1), one('c', 2)], 'q')).toEqual([
    "in ensemble 'all', [request id: q] unexpected deadlock, at least one output is not set while no more ensemble steps can be made F",
  ]);
  await core.close();
});
