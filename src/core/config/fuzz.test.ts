import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { LETTER } from '#core/testing/letters.ts';
import { LockstepError } from '#core/errors/index.ts';
import { COMMAND_NAMES, flagName } from './field.ts';
import { FIELD_NAMES } from './fields.ts';
import { parseFlags } from './flags.ts';
import { resolveSettings } from './resolve.ts';
import { toRunConfig } from './run-config.ts';

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-fuzz-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const value = fc.oneof(
  fc.string({ unit: LETTER, maxLength: 12 }),
  fc.stringMatching(/^[a-z0-9.:,|/[\]=_@-]{0,24}$/),
  fc.constantFrom(
    'external',
    'process',
    'docker',
    'openai',
    '1',
    '-1',
    '1e9',
    '4294967296',
    'h:1',
    '[::1]:8001',
    'grpcs://h:1',
    'https://h:2',
    'h:1,2|g:3',
    'true',
    'a=b',
    'NaN',
  ),
);
const flag = fc.oneof(
  fc.constantFrom(...FIELD_NAMES).map((name) => `--${flagName(name)}`),
  fc.constantFrom(...FIELD_NAMES).map((name) => `--no-${flagName(name)}`),
  fc.stringMatching(/^--?[a-z=-]{0,8}$/),
);
const args = fc.array(
  fc.oneof(
    flag,
    fc.tuple(flag, value).map(([name, text]) => `${name}=${text}`),
    value,
  ),
  { maxLength: 6 },
);

async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'accepted';
  } catch (thrown) {
    // What is no LockstepError would be shown with its stack.
    if (!(thrown instanceof LockstepError)) return `a defect: ${String(thrown)}`;
    return `${thrown.code}${thrown.hint === undefined ? ', without a next step' : ''}`;
  }
}

const KNOWN =
  /^(accepted|flag-unknown|flag-value-missing|flag-value-unexpected|value-invalid|flags-contradict|tokenizer-missing|profile-unknown|image-floating|replicas?-\w+)$/;

test('any arguments of any command are settings, or refused by name with a next step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...COMMAND_NAMES), args, async (command, words) => {
      const seen = await outcome(async () => {
        const settings = await resolveSettings({ command, flags: parseFlags(command, words).layer, env: {}, cwd });
        if (command === 'check') toRunConfig(settings, cwd);
      });
      expect(seen).toMatch(KNOWN);
    }),
    { numRuns: 400 },
  );
});

test('any address is one, or refused with what an address looks like', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('grpc', 'http', 'metrics', 'openai'), value, async (name, text) => {
      const words = ['--target', 'external', '--grpc=h:1', '--http=h:2', `--${name}=${text}`];
      const seen = await resolveSettings({ command: 'check', flags: parseFlags('check', words).layer, env: {}, cwd }).then(
        (settings) => {
          const port = Number(/(\d+)$/.exec(String(settings[name]))?.[1] ?? 1);
          return name === 'openai' || (port > 0 && port < 65_536) ? 'accepted' : `accepted with port ${port}`;
        },
        (error: LockstepError) => `${error.code} ${error.message}`,
      );
      expect(seen).toMatch(/^(accepted$|value-invalid .* must be (host:port|a base URL)|flags-contradict .)/s);
    }),
    { numRuns: 200 },
  );
});

const anything = fc.oneof(
  { depthIdentifier: 'config' },
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    maxDepth: 2,
  }),
  value,
  fc.string({ minLength: 300, maxLength: 400 }),
  fc.constantFrom(...[NaN, -0, Infinity, 2 ** 53, 1.5].map((n) => n as unknown), cyclic()),
);

function cyclic(): unknown {
  const one: unknown[] = [];
  one.push(one);
  return one;
}

test('whatever a config file says of a field is a setting, or refused with field, file and what is expected', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...COMMAND_NAMES), fc.constantFrom(...FIELD_NAMES), anything, async (command, field, said) => {
      const layer = new Map([[field, { value: said, source: 'file' as const, name: `${field} in lockstep.config.ts` }]]);
      const seen = await resolveSettings({ command, flags: layer, env: {}, cwd }).then(
        (settings) => (command === 'check' ? outcome(async () => toRunConfig(settings, cwd)) : 'accepted'),
        (thrown: unknown) => {
          if (!(thrown instanceof LockstepError)) return `a defect: ${String(thrown)}`;
          refused++;
          return thrown.message.length > 1000 ? 'a message without end' : `${thrown.code} ${thrown.message}`;
        },
      );
      expect(seen).toMatch(
        new RegExp(
          `^(${KNOWN.source.slice(1, -1)}|value-invalid .*\\b${field} in lockstep.config.ts must be .+; got .*|flags-contradict .+)$`,
          's',
        ),
      );
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});
