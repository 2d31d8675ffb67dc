import { expect, test } from 'vitest';
import { Redactor } from './index.ts';
import type { FixtureEvent } from './types.ts';

const request = (headers: readonly (readonly [string, string])[], path = '/'): FixtureEvent => ({
  kind: 'request',
  from: 'client',
  atNs: 0,
  path,
  headers,
});

test.each([
  ['authorization', 'Bearer abcdef', 'Bearer ***'],
  ['Authorization', 'abcdef', '***'],
  ['api-key', 'abcdef', '***'],
  ['X-Goog-Api-Key', 'abcdef', '***'],
  ['Cookie', 'a=b; c=d', '***'],
  ['x-auth-token', 'abcdef', '***'],
  ['triton-grpc-protocol-admin', 'abcdef', '***'],
  ['x-team', 'abcdef', '***'],
  ['x-max-tokens', '12', '12'],
  ['grpc-timeout', '5S', '5S'],
  ['sec-fetch-keyboard', 'a', 'a'],
])('%s: %s', (name, value, told) => {
  expect(new Redactor(['x-team']).event(request([[name, value]]))).toMatchObject({ headers: [[name, told]] });
});

test('what a secret was is told nowhere in the exchange, and lengths stay', () => {
  const redactor = new Redactor();
  expect(redactor.event(request([['authorization', 'Bearer s3cret-s3cret']], '/v1?api_key=abcdefg&x=1&token=yz'))).toMatchObject({
    path: '/v1?api_key=***&x=1&token=***',
  });
  const body = Buffer.from('{"error":"no such key s3cret-s3cret, abcdefg: s3cret-s3cret"}');
  const before = Buffer.from(body);
  const told = redactor.event({ kind: 'body', from: 'server', atNs: 1, bytes: body });
  expect(told.bytes.toString()).toBe('{"error":"no such key *************, *******: *************"}');
  expect(told.bytes.length).toBe(body.length);
  // The bytes are another's.
  expect(body.equals(before)).toBe(true);
  // A value of five characters would be found in any text.
  redactor.event(request([['api-key', 'error']]));
  expect(redactor.event({ kind: 'body', from: 'server', atNs: 1, bytes: body }).bytes.toString()).toContain('error');
});
