import { expect, test } from 'vitest';
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { httpServer } from '../testing.ts';
import { httpClient } from './index.ts';

const REQUEST = {
  model: 'm',
  id: 'r',
  inputs: [
    int32Tensor('ids', [1, 2], [3, -4]),
    bytesTensor('text', [1, 1], ['日']),
    fp32Tensor('t', [1, 1], [0.5]),
    boolTensor('b', [1, 1], [true]),
    uint64Tensor('seed', [1, 1], [18446744073709551615n]),
  ],
  outputs: ['ids'],
  parameters: { priority: 1 },
};

interface Received {
  url: string;
  headers: Readonly<Record<string, unknown>>;
  body: Buffer;
}

async function ask(binary: boolean, answer: Buffer | string, headers: Record<string, string> = {}) {
  let received: Received | undefined;
  await using server = await httpServer((request, response, body) => {
    received = { url: request.url ?? '', headers: request.headers, body };
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(answer);
  });
  await using client = httpClient(server.address);
  const message = await client.infer(REQUEST, { binary, deadlineMs: 10_000 });
  return { message, received: received as Received };
}

test('JSON both ways, 64-bit numbers exact', async () => {
  const { message, received } = await ask(
    false,
    '{"id":"r","model_name":"m","model_version":"1","parameters":{"sequence_id":0},"outputs":[{"name":"ids","datatype":"INT64","shape":[1,2],"data":[9223372036854775807,-1]},{"name":"s","datatype":"BYTES","shape":[1],"data":["é"]}]}',
  );
  expect(received.url).toBe('/v2/models/m/infer');
  expect(received.headers['content-type']).toBe('application/json');
  expect(received.body.toString()).toBe(
    '{"id":"r","parameters":{"priority":1},"inputs":[' +
      '{"name":"ids","datatype":"INT32","shape":[1,2],"data":[3,-4]},{"name":"text","datatype":"BYTES","shape":[1,1],"data":["日"]},' +
      '{"name":"t","datatype":"FP32","shape":[1,1],"data":[0.5]},{"name":"b","datatype":"BOOL","shape":[1,1],"data":[true]},' +
      '{"name":"seed","datatype":"UINT64","shape":[1,1],"data":[18446744073709551615]}],"outputs":[{"name":"ids"}]}',
  );
  expect(message).toMatchObject({ id: 'r', modelName: 'm', modelVersion: '1', final: undefined });
  expect(message.parameters.get('sequence_id')).toBe(0n);
  expect(message.outputs.map((o) => [o.name, o.shape, Buffer.from(o.data).toString('hex')])).toEqual([
    ['ids', [1, 2], 'ffffffffffffff7fffffffffffffffff'],
    ['s', [1], '02000000c3a9'],
  ]);
});

test('binary both ways, the JSON measured by the header', async () => {
  const json =
    '{"model_name":"m","model_version":"1","outputs":[{"name":"a","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}},{"name":"b","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":5}}]}';
  const body = Buffer.concat([Buffer.from(json), Buffer.from('0700000001000000ff', 'hex')]);
  const { message, received } = await ask(true, body, { 'inference-header-content-length': String(json.length) });
  const length = Number(received.headers['inference-header-content-length']);
  const sent = JSON.parse(received.body.subarray(0, length).toString()) as { inputs: { parameters: unknown }[]; parameters: unknown };
  expect(sent.parameters).toEqual({ priority: 1, binary_data_output: true });
  expect(sent.inputs.map((i) => i.parameters)).toEqual([8, 7, 4, 1, 8].map((binary_data_size) => ({ binary_data_size })));
  expect(received.body.subarray(length).toString('hex')).toBe(
    '03000000fcffffff' + '03000000e697a5' + '0000003f' + '01' + 'ffffffffffffffff',
  );
  expect(message.outputs.map((o) => Buffer.from(o.data).toString('hex'))).toEqual(['07000000', '01000000ff']);
});

test.each([
  [
    'too few bytes',
    '{"model_name":"m","outputs":[{"name":"a","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}}]}',
    'output a should have 8 bytes and has 0',
  ],
  ['too few elements', '{"model_name":"m","outputs":[{"name":"a","datatype":"INT32","shape":[2],"data":[1]}]}', 'Shape does not match'],
  ['no JSON', 'oops', 'Invalid value'],
  ['no UTF-8', Buffer.concat([Buffer.from('{"model_name":"'), Buffer.from([0xff]), Buffer.from('","outputs":[]}')]), 'not valid UTF-8'],
])('an answer with %s is response-malformed', async (_, answer, why) => {
  const error = await ask(false, answer).then(
    () => new Error('no error'),
    (thrown: Error) => thrown,
  );
  expect(error.message).toContain('[response-malformed]');
  expect(error.message).toContain(why);
});
