import { once } from 'node:events';
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type IncomingMessage, createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface Registry extends AsyncDisposable {
  /** By digest, as it is pulled. */
  readonly reference: string;
  /** host:port */
  readonly host: string;
  /** Of the image, once it is pulled. */
  readonly imageId: string;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const digestOf = (data: Buffer) => `sha256:${createHash('sha256').update(data).digest('hex')}`;

/** A registry (OCI distribution, API v2) with one image of one file, for whoever shows the login. */
export async function startRegistry(login: { readonly user: string; readonly password: string }): Promise<Registry> {
  const layer = tarOf('only-file', 'there is no server in here\n');
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      history: [{ created_by: 'a test' }],
    }),
  );
  const packed = gzipSync(layer);
  const part = (type: string, data: Buffer) => ({ mediaType: `application/vnd.docker.${type}`, size: data.length, digest: digestOf(data) });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part('container.image.v1+json', config),
      layers: [part('image.rootfs.diff.tar.gzip', packed)],
    }),
  );
  const blobs = new Map([config, packed, manifest].map((data) => [digestOf(data), data]));
  const expected = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
  const server = createServer((request: IncomingMessage, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"', 'content-type': 'application/json' });
      response.end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}');
      return;
    }
    const digest = /(sha256:[0-9a-f]{64})$/.exec(request.url ?? '')?.[1];
    const data = digest === undefined ? Buffer.from('{}') : blobs.get(digest);
    const type = request.url?.includes('/manifests/') === true ? MANIFEST : 'application/octet-stream';
    response.writeHead(data === undefined ? 404 : 200, {
      'content-type': type,
      ...(digest === undefined ? {} : { 'docker-content-digest': digest }),
    });
    response.end(request.method === 'HEAD' ? undefined : data);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    reference: `${host}/test/small@${digestOf(manifest)}`,
    host,
    imageId: digestOf(config),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A tar with one file (POSIX ustar): a header of 512 bytes, the content in blocks of 512, two empty blocks. */
function tarOf(name: string, text: string): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, at: number, digits: number) => header.write(`${value.toString(8).padStart(digits, '0')}\0`, at);
  header.write(name, 0);
  octal(0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(Buffer.byteLength(text), 124, 11);
  octal(1_700_000_000, 136, 11);
  header.write('        0', 148);
  header.write('ustar\0' + '00', 257);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512 + 1024);
  body.write(text);
  return Buffer.concat([header, body]);
}
