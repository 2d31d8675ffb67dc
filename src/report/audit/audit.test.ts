import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import Ajv from 'ajv';
import draft4 from 'ajv/lib/refs/json-schema-draft-04.json' with { type: 'json' };
import schema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditRepository, LOADED_DIFFERS, type Trial } from '#targets/repository/index.ts';
import { PLAIN } from '../terminal/style.ts';
import { auditJson, type AuditReport, auditSarif, isClean, renderAudit } from './index.ts';

const dir = mkdtempSync(join(tmpdir(), 'lockstep audit report '));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TRIALS: readonly Trial[] = [
  {
    id: 'stream-order',
    statement: 'the parts of a stream come in their order',
    n: 44,
    verdict: 'contradicted',
    detail: '“x”: part 3 was "b"',
  },
  { id: 'single-batches', statement: 'no model is given two requests at once', n: 583, verdict: 'not contradicted', detail: '' },
  { id: 'one-process-each', statement: 'every Python model is one process', n: 0, verdict: 'not tried', detail: 'not seen from here' },
];

let report: AuditReport;
beforeAll(() => {
  mkdirSync(join(dir, 'my models', 'post'), { recursive: true });
  writeFileSync(
    join(dir, 'my models', 'post', 'config.pbtxt'),
    'name: "post"\nbackend: "python"\ninput { name: "TOKENS_BATCH" data_type: TYPE_INT32 dims: [ -1 ] }\ninstance_group { count: 4 }\nmodel_warmup { name: "w" }\n',
  );
  const { read, findings } = auditRepository(join(dir, 'my models'), undefined);
  const loaded = {
    knob: LOADED_DIFFERS,
    level: 'error',
    model: 'post',
    found: 'instances 4 as loaded, 1 in the file',
    where: { url: 'http://h:8000/v2/models/post/config' },
  } as const;
  report = { read, findings: [...findings, loaded], trials: TRIALS, shown: (file) => relative(dir, file) };
});

test('the table says where, what, why and what to do, and counts', () => {
  expect(renderAudit(report, { style: PLAIN, columns: 100 }).split('\n')).toEqual([
    'error   post instance_group of every model: count 4  my models/post/config.pbtxt:4',
    '        deterministic: one group, count: 1. It can deliver the chunks of a stream in another order',
    '        (postprocessing), or answer from different GPUs (engine). Known from: observed',
    '        (docs/observed.md#model-repository-1-x); triton-inference-server/tensorrtllm_backend#614.',
    '        next: Write one instance_group with count: 1 (fill_template: preprocessing_instance_count,',
    '        postprocessing_instance_count, bls_instance_count).',
    'warning post model_warmup: 1 samples  my models/post/config.pbtxt:5',
    '        deterministic: none (default). It can leave another state of cache and graphs than the one',
    '        goldens were recorded on. Known from: inferred.',
    '        next: Delete model_warmup, or keep it the same for ever.',
    'error   post configuration as loaded: instances 4 as loaded, 1 in the file  http://h:8000/v2/models/post/config',
    '        deterministic: what config.pbtxt says. It can run another configuration than the files that',
    '        were looked at. Known from: observed: a load request can replace a configuration, and a file',
    '        can change behind a server.',
    '        next: Load the model again, or restart the server on this repository.',
    '',
    'put to the test',
    'the parts of a stream come in their order: contradicted  “x”: part 3 was "b"',
    'no model is given two requests at once: not contradicted in 583',
    'every Python model is one process: not tried  not seen from here',
    '',
    expect.stringMatching(/^not seen from here: FORCE_DETERMINISTIC, /),
    expect.any(String),
    expect.any(String),
    expect.any(String),
    'audit: 2 errors · 1 warning · 0 notes · 1 of 3 statements contradicted · 1 read',
  ]);
  expect(isClean(report)).toBe(false);
});

test('notes and statements that were not tried fail nothing; a contradiction does', () => {
  expect(isClean({ findings: [], trials: TRIALS.slice(1) })).toBe(true);
  expect(isClean({ findings: [], trials: TRIALS })).toBe(false);
});

test('the data of the JSON form is that of the table', () => {
  expect(JSON.parse(auditJson(report))).toMatchObject({
    outcome: 'failed',
    read: ['my models/post/config.pbtxt'],
    findings: [
      {
        knob: 'instances',
        level: 'error',
        model: 'post',
        found: 'count 4',
        file: 'my models/post/config.pbtxt',
        line: 4,
        how: expect.stringMatching(/^Write one/),
      },
      { knob: 'warm-up', level: 'warning', line: 5 },
      { knob: 'loaded-differs', url: 'http://h:8000/v2/models/post/config' },
    ],
    trials: TRIALS,
  });
});

test('the SARIF form is valid against the schema of 2.1.0, and points into the files', () => {
  const ajv = new Ajv({ schemaId: 'auto', validateSchema: false });
  ajv.addMetaSchema(draft4);
  const validate = ajv.compile(schema);
  const log = JSON.parse(auditSarif(report));
  validate(log);
  expect(validate.errors).toBeNull();
  expect(log.runs[0].results.map((one: { ruleId: string; level: string }) => [one.ruleId, one.level])).toEqual([
    ['instances', 'error'],
    ['warm-up', 'warning'],
    ['loaded-differs', 'error'],
    ['stream-order', 'error'],
    ['single-batches', 'none'],
    ['one-process-each', 'none'],
  ]);
  expect(log.runs[0].results[0].locations).toEqual([
    { physicalLocation: { artifactLocation: { uri: 'my%20models/post/config.pbtxt' }, region: { startLine: 4 } } },
  ]);
  const known = new Set(log.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id));
  expect(log.runs[0].results.every(({ ruleId }: { ruleId: string }) => known.has(ruleId))).toBe(true);
  // The validator itself bites.
  expect(validate({ ...log, version: '2.0.0' })).toBe(false);
});
