/** What a prompt or a server said may be anything; a bundle's scripts and README must stay what they are. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FailingCase } from '#checks/shrink/index.ts';
import { curlLine, curlScript, readmeOf, reproduceScript } from '#report/bundle/index.ts';
import { clientEnvironment } from '#targets/clients/index.ts';
import { runScript } from './run-script.ts';

const EVIL = '"""\'; touch $(pwned) `id` \\" \\\\ <script>alert(1)</script> | # \u2028 \u0007 ]]> ```';

const failing: FailingCase = {
  case: {
    request: { id: 'evil', prompt: { kind: 'text', text: EVIL }, sampling: { kind: 'greedy' }, limits: { maxTokens: 2 } },
    route: 'generate',
    mode: 'unary',
    repeat: 0,
  },
  asked: {},
  company: { before: [], beside: [] },
  violation: { claim: 'agreement/generate-equals-raw', law: 'text-is-true-decode', code: 'text', text: EVIL },
};
const body = JSON.stringify({ text_input: EVIL });
const request = { port: 'http', method: 'POST', path: '/v2/models/ensemble/generate', body, stream: false } as const;
const symptom = { check: 'text', right: [EVIL] };

test('scripts run as they are, whatever the prompt says, and the prompt arrives as it was', async () => {
  const { python } = await clientEnvironment('libraries');
  const { signal } = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-hostile-'));
  writeFileSync(
    join(folder, 'reproduce.py'),
    reproduceScript({ failing, symptom, request, before: [], beside: [], tries: { n: 3, k: 3 } }),
  );
  writeFileSync(join(folder, 'request.sh'), curlScript(curlLine(request), { failing, symptom })!);
  writeFileSync(join(folder, 'right.json'), JSON.stringify({ text_output: EVIL }));
  writeFileSync(join(folder, 'wrong.json'), JSON.stringify({ text_output: `${EVIL}!` }));
  const judged = (file: string) => runScript([python, join(folder, 'reproduce.py'), '--judge', join(folder, file)], { signal });
  expect(await judged('right.json')).toMatchObject({ code: 0, text: expect.stringMatching(/^not reproduced/) });
  expect(await judged('wrong.json')).toMatchObject({ code: 1, text: expect.stringMatching(/^reproduced/) });
  // A curl that says what it was given, in the place of the real one.
  writeFileSync(join(folder, 'curl'), '#!/bin/sh\nprintf "%s" "$6" > "$(dirname "$0")/given"\nprintf "{}"\n', { mode: 0o755 });
  await runScript(['sh', join(folder, 'request.sh')], {
    signal,
    environment: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, PYTHON: python },
  });
  expect(readFileSync(join(folder, 'given'), 'utf8')).toBe(body);
  expect(existsSync('pwned') || existsSync(join(folder, 'pwned'))).toBe(false);
});

test('nothing that a server said is markup in the README', () => {
  const readme = readmeOf({
    failing,
    sighting: { text: EVIL, transcript: undefined, truth: undefined },
    statement: undefined,
    tries: { n: 12, k: 5 },
    answers: [{ name: 'observed', of: 'events', first: 0, total: 1, at: 0, pieces: [{ text: EVIL }] }],
    exchanges: [],
    identity: { triton: EVIL },
    commands: [],
    files: [],
  });
  const outsideCode = readme.replaceAll(/(`+)[^]*?[^`]\1(?!`)/g, '');
  expect(outsideCode).not.toMatch(/(?<!\\)<script/);
  expect(readme).toContain('Seen in 5 of 12 tries.');
});
