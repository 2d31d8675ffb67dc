import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { nowNs } from '#core/clock/index.ts';
import { grpcClient } from '#wire/clients/index.ts';
import { INFERENCE_SERVICE } from '#wire/protocol/service.ts';
import { freePorts } from '../host/index.ts';
import { connectExternalTarget, readAccess } from './index.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

interface Served {
  readonly http: string;
  readonly grpc: string;
}

interface Secured {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** What authorization must be. */
  readonly token: string;
}

/** A server with Triton's health, metadata, index and configuration, ready after some time; or one that asks who is there. */
async function serveTriton(readyAfterMs = 0, secured?: Secured): Promise<Served> {
  const readyNs = nowNs() + readyAfterMs * 1e6;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const answers: Record<string, object> = {
      '/v2': { name: 'triton', version: '2.51.0', extensions: ['classification'] },
      '/v2/repository/index': [
        { name: 'tensorrt_llm', state: 'READY' },
        { name: 'broken', state: 'UNAVAILABLE' },
        { name: 'ensemble', state: 'READY' },
      ],
      '/v2/models/ensemble/config': { name: 'ensemble', max_batch_size: 4 },
    };
    const path = request.url ?? '';
    if (secured !== undefined && request.headers.authorization !== secured.token) response.statusCode = 401;
    else if (path.startsWith('/v2/health/')) response.statusCode = nowNs() >= readyNs ? 200 : 400;
    else if (answers[path] === undefined) response.statusCode = 404;
    response.end(JSON.stringify(answers[path] ?? {}));
  };
  const mutual = secured && { ca: secured.ca, cert: secured.cert, key: secured.key, requestCert: true, rejectUnauthorized: true };
  const server = mutual === undefined ? createServer(answer) : createSecureServer(mutual, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ [Symbol.asyncDispose]: async () => void server.close() });
  return { http: `127.0.0.1:${(server.address() as AddressInfo).port}`, grpc: await serveGrpc(secured) };
}

/** ServerLive over gRPC. */
async function serveGrpc(secured?: Secured): Promise<string> {
  const server = new Server();
  server.addService(
    { ServerLive: INFERENCE_SERVICE['ServerLive'] as never },
    {
      ServerLive: (call: { readonly metadata: Metadata }, reply: (error: object | null, body?: object) => void) =>
        secured !== undefined && call.metadata.get('authorization')[0] !== secured.token
          ? reply({ code: status.UNAUTHENTICATED, details: 'who are you?' })
          : reply(null, { live: true }),
    },
  );
  const pair = secured && { cert_chain: Buffer.from(secured.cert), private_key: Buffer.from(secured.key) };
  const how =
    pair === undefined ? ServerCredentials.createInsecure() : ServerCredentials.createSsl(Buffer.from(secured?.ca ?? ''), [pair], true);
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', how);
  open.push({ [Symbol.asyncDispose]: async () => server.forceShutdown() });
  return `127.0.0.1:${port}`;
}

const closedPort = async () => `127.0.0.1:${(await freePorts(1))[0]}`;
const endpoints = (served: Served, openai?: string) => ({ ...served, metrics: undefined, openai });

describe('an external target', () => {
  test('is waited for and then says what it is; what nothing tells is unknown', async () => {
    await using target = await connectExternalTarget({ endpoints: endpoints(await serveTriton(200)) });
    expect(target.identity).toMatchObject({
      name: 'triton',
      triton: '2.51.0',
      served: 'ensemble tensorrt_llm',
      'config of tensorrt_llm': 'unknown',
      gpu: 'unknown',
    });
    expect(target.identity['config of ensemble']).toMatch(/^[0-9a-f]{12}$/);
    expect(await target.health()).toEqual({ alive: true, detail: '' });
  });

  test('the address that does not answer is named, and only that one', async () => {
    const { http } = await serveTriton();
    const grpc = await closedPort();
    await expect(connectExternalTarget({ endpoints: endpoints({ http, grpc }), readyWithinMs: 400 })).rejects.toMatchObject({
      code: 'target-unreachable',
      message: expect.stringMatching(
        new RegExp(`^\\[target-unreachable\\] waited 400 ms for ${grpc} to answer gRPC \\(last: .*ECONNREFUSED.*\\), in vain$`),
      ),
    });
  });

  test('an OpenAI front end that is not there is found before the run', async () => {
    const openai = `http://${await closedPort()}`;
    await expect(connectExternalTarget({ endpoints: endpoints(await serveTriton(), openai), readyWithinMs: 400 })).rejects.toThrow(
      openai.slice(7),
    );
  });

  test('behind TLS that asks for a certificate and a token, it is reached with both and says why it is not with one', async () => {
    const sample = (name: string) => join(import.meta.dirname, 'samples', name);
    const text = (name: string) => readFileSync(sample(name), 'utf8');
    const token = 'sesame-9271';
    const folder = mkdtempSync(join(tmpdir(), 'lockstep access '));
    open.push({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) });
    writeFileSync(join(folder, 'token'), `${token}\n`);
    const secured = { ca: text('root.pem'), cert: text('server.pem'), key: text('server.key'), token: `Bearer ${token}` };
    const served = await serveTriton(0, secured);
    const files = {
      tlsCa: sample('root.pem'),
      tlsCert: sample('client.pem'),
      tlsKey: sample('client.key'),
      bearerTokenFile: join(folder, 'token'),
      headers: ['X-Team: a:b'],
    };
    // What is refused is refused at once; a second and more is for handshakes on a busy machine.
    const reach = (change: Partial<typeof files> | Record<string, undefined>, readyWithinMs = 20_000) =>
      connectExternalTarget({
        endpoints: {
          http: `https://${served.http}`,
          grpc: `grpcs://${served.grpc}`,
          metrics: undefined,
          openai: undefined,
          access: readAccess({ ...files, ...change } as typeof files),
        },
        readyWithinMs,
      });
    await using target = await reach({});
    expect(target.identity['triton']).toBe('2.51.0');
    expect(await target.health()).toEqual({ alive: true, detail: '' });
    expect(readAccess(files).headers).toEqual({ 'x-team': 'a:b', authorization: `Bearer ${token}` });
    const why = async (change: Record<string, undefined>) =>
      await reach(change, 2_500).then(
        () => 'reached',
        (error: unknown) => (error as Error).message,
      );
    const [noToken, noRoot, noCertificate] = await Promise.all([
      why({ bearerTokenFile: undefined }),
      why({ tlsCa: undefined }),
      why({ tlsCert: undefined, tlsKey: undefined }),
    ]);
    expect(noToken).toMatch(/https:.* to answer 200 \(last: 401\) and grpcs:.* to answer gRPC \(last: UNAUTHENTICATED: who are you\?\)/);
    expect(noRoot).toMatch(/last: .*unable to verify|last: .*self-signed|last: .*UNABLE_TO_/i);
    expect(noCertificate).toMatch(/last: /);
    await expect(async () => reach({ tlsKey: undefined })).rejects.toMatchObject({ code: 'flags-contradict' });
    expect(() => readAccess({ ...files, tlsCa: join(folder, 'token') })).toThrow(/is no PEM file/);
    expect(() => readAccess({ ...files, bearerTokenFile: join(folder, 'nowhere') })).toThrow(/there is no file of the name/);
    expect(noToken).not.toContain(token);
  });

  test('an address that is a number is verified like a name, and is not put into the server name', async () => {
    const sample = (name: string) => readFileSync(join(import.meta.dirname, 'samples', name), 'utf8');
    const asked: (string | undefined)[] = [];
    const server = createTlsServer({ key: sample('server.key'), cert: sample('server.pem'), ALPNProtocols: ['h2'] }, (socket) => {
      asked.push(socket.servername === false ? undefined : (socket.servername ?? undefined));
      socket.destroy();
    });
    open.push({ [Symbol.asyncDispose]: async () => void server.close() });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const warned: string[] = [];
    const onWarning = (warning: Error) => void warned.push(warning.message);
    process.on('warning', onWarning);
    const why = async (host: string) => {
      await using client = grpcClient(`grpcs://${host}:${port}`, { ca: sample('root.pem'), headers: {} });
      return await client.live({ deadlineMs: 3_000 }).then(String, (error: unknown) => (error as Error).message);
    };
    // The certificate is for localhost and 127.0.0.1.
    expect(await why('127.0.0.2')).toContain("IP: 127.0.0.2 is not in the cert's list: 127.0.0.1");
    await why('127.0.0.1');
    await why('localhost');
    expect(new Set(asked)).toEqual(new Set([undefined, 'localhost']));
    process.off('warning', onWarning);
    expect(warned).toEqual([]);
  });

  test.each([
    ['tlsCa', 'server.key', /server\.key holds a (RSA |EC )?PRIVATE KEY, and a CERTIFICATE is wanted/],
    ['tlsKey', 'client.pem', /client\.pem holds a CERTIFICATE, and a PRIVATE KEY is wanted/],
    ['tlsKey', 'server.key', /server\.key is not the key of .*client\.pem/],
    ['tlsCa', '.', /cannot read .*EISDIR/],
    ['tlsCa', 'README.md', /README\.md is no PEM file/],
  ])('%s %s is refused before anybody is asked', (name, file, words) => {
    const sample = (one: string) => join(import.meta.dirname, 'samples', one);
    const right = { tlsCa: sample('root.pem'), tlsCert: sample('client.pem'), tlsKey: sample('client.key') };
    expect(() => readAccess({ ...right, bearerTokenFile: undefined, headers: [], [name]: sample(file) })).toThrow(words);
  });

  test('files that hold half of something say what, and never what is secret', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lockstep access '));
    open.push({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) });
    const none = { tlsCa: undefined, tlsCert: undefined, tlsKey: undefined, bearerTokenFile: undefined, headers: [] };
    const file = (text: string) => {
      writeFileSync(join(folder, 'file'), text);
      return join(folder, 'file');
    };
    const refused = (change: object) => {
      try {
        readAccess({ ...none, ...change });
      } catch (thrown) {
        return (thrown as Error).message;
      }
      return 'taken';
    };
    const root = readFileSync(join(import.meta.dirname, 'samples', 'root.pem'), 'utf8');
    expect(refused({ tlsCa: file(`${root}-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n`) })).toMatch(
      /certificate 2 of .* cannot be read/,
    );
    expect(refused({ tlsCa: file(root.slice(0, -200)) })).toMatch(/certificate 1 of .* cannot be read/);
    expect(refused({ bearerTokenFile: file(' \n') })).toMatch(/holds no token: it is empty/);
    expect(refused({ bearerTokenFile: file('sesame 1') })).toBe(
      `[access-unreadable] ${folder}/file holds no token: it has blanks or line breaks inside`,
    );
    // The token itself, in place of its file.
    expect(refused({ bearerTokenFile: '/somewhere/sesame' })).not.toContain('sesame');
    expect(refused({ bearerTokenFile: file('a'), headers: ['Authorization: b'] })).toMatch(/both say what authorization is/);
    expect(refused({ headers: ['X-Key: a', 'x-key: b'] })).toMatch(/x-key is given twice/);
    // Whatever a file holds, it is read or refused in words.
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (text) => {
        const said = refused({ bearerTokenFile: file(`sesame${text}`) });
        expect(said === 'taken' || (said.startsWith('[access-unreadable]') && !said.includes('sesame'))).toBe(true);
      }),
      { numRuns: 50, seed: 1 },
    );
  });
});
