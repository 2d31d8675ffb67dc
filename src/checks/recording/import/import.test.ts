/** bash is the independent reader of command lines; what is imported is asked as the tool would have asked it. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LockstepError } from '#core/errors/index.ts';
import { fixtureText, parseFixture } from '../index.ts';
import { type Imported, importRequests } from './index.ts';
import { shellWords } from './shell-words.ts';

const quotings = [
  (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  (word: string): string => `"${word.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`,
  (word: string): string => word.replaceAll(/[^a-zA-Z0-9]/gu, (c) => (c === '\n' ? "'\n'" : `\\${c}`)),
  (word: string): string => `$'${word.replaceAll(/[\\']/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}'`,
];

test('lines are taken apart as bash does it', () => {
  const word = fc.string({ unit: fc.constantFrom(...Array.from('aB1 \n\'"\\$`!{}[]:/@=é🐈|;&>#')), minLength: 1, maxLength: 12 });
  const line = fc.array(fc.tuple(word, fc.nat(quotings.length - 1)), { minLength: 1, maxLength: 5 });
  const lines = fc.sample(line, { numRuns: 60, seed: 7 }).map((words) => words.map(([text, how]) => quotings[how]!(text)).join(' '));
  const script = lines.map((one) => `printf '%s\\0' ${one}; printf '\\1'`).join('\n');
  const bash = execFileSync('bash', ['--norc', '--noprofile', '-c', script], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } })
    .split('\u0001')
    .slice(0, -1);
  expect(lines.map((one) => `${(shellWords(one) ?? []).join('\0')}\0`)).toEqual(bash);
});

test.each([["curl 'a"], ['curl "a\\"'], ["curl $'a\\'"]])('%s is not closed', (line) => {
  expect(shellWords(line)).toBeUndefined();
});

const shown = ({ header: { protocol }, events }: Imported): unknown[] => [
  protocol,
  ...events.map((event) =>
    event.kind === 'request'
      ? `${event.method ?? 'gRPC'} ${event.path} ${event.headers.map((pair) => pair.join(': ')).join(', ')}`
      : 'bytes' in event
        ? event.bytes.toString('utf8')
        : event.kind,
  ),
];

test('a curl line with its body, headers and query, and no secret of it', () => {
  const [one, ...others] = importRequests(
    String.raw`$ curl -sN "http://gpu1:8000/v2/models/ensemble/generate_stream?x=1" \
     -H 'content-type: application/json' -H "Authorization: Bearer secret-token" -XPOST \
     --data-raw '{"text_input": "it'\''s", "stream": true}' | jq .`,
  );
  expect(others).toEqual([]);
  expect(shown(one!)).toEqual([
    'http',
    'POST /v2/models/ensemble/generate_stream?x=1 Host: gpu1:8000, content-type: application/json, Authorization: Bearer ***, Content-Length: 38',
    '{"text_input": "it\'s", "stream": true}',
    'end',
  ]);
});

test('--json and a URL without a scheme', () => {
  const [one] = importRequests(`curl localhost:9000/v1/completions --json '{"prompt":"a"}'`);
  expect(shown(one!)).toEqual([
    'openai',
    'POST /v1/completions Host: localhost:9000, Content-Type: application/json, Accept: application/json, Content-Length: 14',
    '{"prompt":"a"}',
    'end',
  ]);
  expect(shown(importRequests('curl http://a/v2')[0]!)).toEqual(['http', 'GET /v2 Host: a', 'end']);
});

test('an input file of perf_analyzer: tensors with the types that the models have', async () => {
  const text = JSON.stringify({
    data: [
      { text_input: ['a', 'b'], max_tokens: [16], stream: [true], temperature: [1] },
      [{ input_ids: { content: [1, 2, 3, 4], shape: [2, 2] }, seed: [7] }],
    ],
  });
  const [first, second] = importRequests(text);
  const lines = (one: Imported): string[] =>
    fixtureText(one)
      .split('\n')
      .filter((line) => line.includes('message'));
  expect(lines(first!)).toEqual([
    '0 > message {"message":{"model_name":"ensemble","parameters":{"triton_enable_empty_final_response":{"bool_param":true}},"inputs":[' +
      '{"name":"text_input","datatype":"BYTES","shape":[1,2],"data":["a","b"]},{"name":"max_tokens","datatype":"INT32","shape":[1,1],"data":[16]},' +
      '{"name":"stream","datatype":"BOOL","shape":[1,1],"data":[true]},{"name":"temperature","datatype":"FP32","shape":[1,1],"data":[1]}]}}',
  ]);
  expect(lines(second!)[0]).toContain('"model_name":"tensorrt_llm"');
  expect(lines(second!)[0]).toContain(
    '{"name":"input_ids","datatype":"INT32","shape":[1,2,2],"data":[1,2,3,4]},{"name":"seed","datatype":"UINT64","shape":[1,1],"data":[7]}',
  );
  expect(await parseFixture(fixtureText(first!), 'a')).toEqual(first);
});

test.each([
  [
    'inputs.json of genai-perf',
    JSON.stringify({ data: [{ payload: [{ model: 'm', messages: [{ role: 'user', content: 'a' }], stream: true }] }] }),
    ['openai', '/v1/chat/completions'],
  ],
  [
    'raw records of AIPerf',
    `${JSON.stringify({ status: 200, payload: { prompt: 'a', max_tokens: 3 }, responses: [] })}\n${JSON.stringify({ payload: { prompt: 'b' } })}\n`,
    ['openai', '/v1/completions', 'openai', '/v1/completions'],
  ],
  ['a body of OpenAI', '{"model":"m","prompt":"a"}', ['openai', '/v1/completions']],
  ['a body of generate', '{"text_input":"a","max_tokens":3}', ['http', '/v2/models/ensemble/generate']],
  ['a body of generate_stream', '{"text_input":"a","max_tokens":3,"stream":true}', ['http', '/v2/models/ensemble/generate_stream']],
])('%s', (_, text, expected) => {
  expect(
    importRequests(text).flatMap(({ header, events: [request] }) => [header.protocol, request?.kind === 'request' && request.path]),
  ).toEqual(expected);
});

function refusal(text: string): LockstepError | undefined {
  try {
    importRequests(text);
  } catch (thrown) {
    return thrown as LockstepError;
  }
  return undefined;
}

test.each([
  ['nothing', '', /neither a curl line, nor JSON/],
  ['text', 'hello', /neither a curl line, nor JSON/],
  ['a file named in a curl line', 'curl http://a -d @/etc/passwd', /names the file \/etc\/passwd, which is not read/],
  ['a flag that is not known', 'curl http://a --form x=y', /--form is a flag of curl/],
  ['no URL', 'curl -s', /has no URL/],
  ['another scheme', 'curl file:///etc/passwd', /is no URL of HTTP/],
  ['a header with a line break', "curl http://a -H $'a: b\\nc: d'", /header of the curl line is none/],
  ['an element of another type', '{"data":[{"max_tokens":[1,"2"]}]}', /data\[0\]: max_tokens is no list/],
  ['an entry that is none', '{"data":[3]}', /data\[0\] is no object/],
  ['a body of nothing known', '{"a":1}', /neither messages, nor a prompt, nor text_input/],
])('%s is refused', (_, text, message) => {
  expect(refusal(text)).toMatchObject({ code: 'import-unreadable', message: expect.stringMatching(message), hint: expect.any(String) });
});
