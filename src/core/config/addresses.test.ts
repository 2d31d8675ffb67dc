import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isBaseUrls, isHeader, isHostPorts, withoutCredentials } from './addresses.ts';
import { addressesOf, replicasOf } from './replicas.ts';

describe('addresses', () => {
  test.each(['gpu1:8001', '10.0.0.7:8001', '[::1]:8001', 'grpcs://[fe80::7]:1', 'triton_1:8001', 'a.b-c.example:65535', 'h:1,2|g:3'])(
    '%j is one',
    (text) => expect(isHostPorts(text, 'grpcs')).toBe(true),
  );

  test.each([
    ...['', 'gpu1', 'gpu1:', ':8001', 'gpu1:8001|', '|gpu1:8001', ' gpu1:8001', 'gpu1:8001 ', 'gpu1:8001,', 'gpu1:0', 'gpu1:65536'],
    ...['gpu1:08001', 'http://h:1', 'https://h:1', 'grpc://h:1', 'grpcs://h:1/x', 'u:p@h:1', 'h..x:1', '-h:1', 'é:1', '\0:1', 'h\n:1'],
    ...['[zz]:1', '[:::::]:1', '[::1:8001', '[]:1', '::1:8001', '[::1%eth0]:1'],
  ])('%j is none', (text) => expect(isHostPorts(text, 'grpcs')).toBe(false));

  test('what is accepted is reached by both clients: it is an origin with the very port', () => {
    const alphabet = fc.constantFrom(...'ab1.:-_[]|,/@% \0é'.split(''), 'https://', '[::1]', ':80');
    let accepted = 0;
    const one = fc.array(alphabet, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.oneof(
          one,
          fc.tuple(one, fc.nat(70_000)).map(([host, port]) => `${host}:${port}`),
        ),
        (text) => {
          if (!isHostPorts(text, 'https')) return;
          accepted++;
          for (const address of addressesOf(text)) {
            const url = new URL(address.includes('://') ? address : `https://${address}`);
            const port = address.slice(address.lastIndexOf(':') + 1);
            expect([url.pathname, url.username, url.port || '443']).toEqual(['/', '', port]);
          }
        },
      ),
      { numRuns: 3000, seed: 1 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('base URLs', () => {
  test.each(['http://127.0.0.1:9000', 'https://gateway.example', 'https://g.example/team/llm/', 'http://[::1]:9', 'http://a:1|http://b:1'])(
    '%j is one',
    (text) => expect(isBaseUrls(text)).toBe(true),
  );

  test.each([
    ...['', 'h:9', 'http://', 'http:///x', 'https://h|', 'http://h:99999', 'http://h:0', 'http://u:p@h', 'http://@h', 'http://h?key=s'],
    ...['http://h/#x', 'http://h/v1', 'http://h/v1/', 'http://h/a/v1', 'http://h/v1/models', 'http://h/v1/chat/completions', 'http://h x'],
    ...['http://[::1', 'ftp://h', 'http://h\\x', 'http://h/V1'],
  ])('%j is none', (text) => expect(isBaseUrls(text)).toBe(false));
});

test('what a message shows of an address has no user, no password and no key of a query', () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(word, word, word, (user, password, host) => {
      const [name, secret] = [`user${user}`, `secret${password}`];
      const shown = withoutCredentials(`https://${name}:${secret}@${host}:1/a?key=${secret}|${name}:${secret}@${host}#${secret}`);
      expect(shown).toBe(`https://…@${host}:1/a?…|…@${host}?…`);
    }),
    { numRuns: 200, seed: 1 },
  );
});

describe('headers', () => {
  test.each(['authorization: Basic YTpi', 'X-Key:a:b', 'triton-grpc-protocol-x-key: k', 'x:', 'api_key.v2: k'])('%j is one', (line) =>
    expect(isHeader(line)).toBe(true),
  );

  // grpc-js refuses the first ones by an error that shows the value; the last ones belong to the call.
  test.each([
    ...['', 'x', ': y', ' x: y', 'x y: z', 'x!y: z', 'x: é', 'x: a\tb', 'x: a\r\ny: b', 'x: \0', 'key-bin: a'],
    ...['content-length: 5', 'Content-Type: text/plain', 'Connection: close', 'TE: x', 'grpc-timeout: 1S', 'transfer-encoding: x'],
  ])('%j is none', (line) => expect(isHeader(line)).toBe(false));
});

describe('replicas', () => {
  const external = { target: 'external', metrics: undefined, openai: undefined };

  test('ports of one host and hosts are in one order in every setting', () => {
    expect(
      replicasOf({ ...external, grpc: '[::1]:1,2|grpcs://b:3', http: '[::1]:4,5|https://b:6', openai: 'http://a|http://b|http://c' }),
    ).toEqual([
      { grpc: '[::1]:1', http: '[::1]:4', metrics: undefined, openai: 'http://a' },
      { grpc: '[::1]:2', http: '[::1]:5', metrics: undefined, openai: 'http://b' },
      { grpc: 'grpcs://b:3', http: 'https://b:6', metrics: undefined, openai: 'http://c' },
    ]);
  });

  test.each([
    [{ ...external, grpc: 'a:1,2', http: 'a:3' }, '--grpc 2, --http 1'],
    [{ ...external, grpc: 'a:1,2', http: 'a:3,4', metrics: 'a:5' }, '--metrics 1'],
    [{ ...external, grpc: 'a:1|A:1', http: 'a:3,4' }, '--grpc names A:1 twice'],
    [{ ...external, grpc: 'a:1,2', http: 'a:3,3' }, '--http names a:3 twice'],
    [{ ...external, target: 'openai', grpc: undefined, http: undefined, openai: 'http://a|http://a/' }, '--openai names http://a/ twice'],
  ])('%j is refused', (given, text) => expect(() => replicasOf(given)).toThrow(text));
});
